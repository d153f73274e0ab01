// Sends two requests. ky itself waits and retries the denied one, once.
import ky from 'ky';

const url = process.argv.at(-1);
for (let sent = 0; sent < 2; sent += 1) {
  const response = await ky(url, { retry: 1, timeout: false });
  console.log(response.status);
}
