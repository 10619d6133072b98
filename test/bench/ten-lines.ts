/** The smallest possible node:http server, which sends the same response to every request. Its argument is the body. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const body = Buffer.from(process.argv[2] ?? '')
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
