// Asks twice. That the second answer is late is ky's affair: it retries by itself, once.
import ky from 'ky';

const url = process.argv.at(-1);
for (let asked = 0; asked < 2; asked += 1) {
  const response = await ky(url, { retry: 1, timeout: false });
  console.log(response.status);
}
