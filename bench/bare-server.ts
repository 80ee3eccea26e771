// The yardstick of the mTLS port: what node:https alone does with the same certificates, the same TLS options and an
// answer of the same size. Its arguments are the hub's vault directory, where its certificate is, what it answers as its manifest, and
// the bytes of a blob.

import { constants, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const [vault = '', manifest = '', blobBytes = '0'] = process.argv.slice(2)
const chain = readFileSync(join(vault, 'server.crt'), 'utf8')
const intermediates = chain.slice(chain.indexOf('-----BEGIN', 1))
const MANIFEST = Buffer.from(manifest)
const BLOB = randomBytes(Number(blobBytes))

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
  (request, response) => {
    const isBlob = request.url?.startsWith('/v1/blobs/') === true
    const answer = isBlob ? BLOB : MANIFEST
    response.writeHead(200, {
      'content-type': isBlob ? 'application/octet-stream' : 'application/json',
      'content-length': answer.length,
    })
    response.end(answer)
  },
)
server.listen(0, '127.0.0.1', () => {
  // A server that listens on TCP has an address object.
  const { port } = server.address() as AddressInfo
  process.stderr.write(`${JSON.stringify({ msg: 'listening', port })}\n`)
})
