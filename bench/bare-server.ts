// The yardstick of the mTLS port: what node:https alone does with the same certificates, the same TLS options and an
// answer of the same size. Its argument is the hub's vault directory, where its certificate is.

import { constants } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const [vault = ''] = process.argv.slice(2)
const chain = readFileSync(join(vault, 'server.crt'), 'utf8')
const intermediates = chain.slice(chain.indexOf('-----BEGIN', 1))
const ANSWER = JSON.stringify({ entregas: [] })

const server = createServer(
  {
    key: readFileSync(join(vault, 'server.key')),
    cert: chain,
    ca: [readFileSync(join(vault, 'ca.crt'), 'utf8'), intermediates],
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    secureOptions: constants.SSL_OP_NO_TICKET,
  },
  (_request, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': ANSWER.length,
    })
    response.end(ANSWER)
  },
)
server.listen(0, '127.0.0.1', () => {
  // A server that listens on TCP has an address object.
  const { port } = server.address() as AddressInfo
  process.stderr.write(`${JSON.stringify({ msg: 'listening', port })}\n`)
})
