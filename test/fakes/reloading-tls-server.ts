// A TLS server as a host has many: it reads key and certificate from one file, and again when it is told by SIGHUP.
// Arguments: that file, and a directory to put `port` and `pid` in. While `stubborn` is there, it reads nothing again.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'

const [, , pemPath = '', directory = ''] = process.argv

const server = createServer((socket) => socket.end())
server.on('tlsClientError', () => undefined)

function readPem(): void {
  if (!existsSync(pemPath) || existsSync(join(directory, 'stubborn'))) return
  const pem = readFileSync(pemPath)
  server.setSecureContext({ cert: pem, key: pem })
}

readPem()
process.on('SIGHUP', readPem)
server.listen(0, '127.0.0.1', () => {
  writeFileSync(join(directory, 'pid'), String(process.pid))
  writeFileSync(join(directory, 'port'), String((server.address() as AddressInfo).port))
})
