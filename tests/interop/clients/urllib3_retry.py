# Asks twice. That the second answer is late is urllib3's affair: it retries by itself, once.
import sys

import urllib3

pool = urllib3.PoolManager(retries=urllib3.Retry(total=1))
for _ in range(2):
    print(pool.request("GET", sys.argv[-1]).status)
