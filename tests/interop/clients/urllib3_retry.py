# Sends two requests. urllib3 itself waits and retries the denied one, once.
import sys

import urllib3

pool = urllib3.PoolManager(retries=urllib3.Retry(total=1))
for _ in range(2):
    print(pool.request("GET", sys.argv[-1]).status)
