/** As little as a server on node:http can be: its one answer, whatever is asked. Its argument is the body. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const body = Buffer.from(process.argv[2] ?? '')
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
