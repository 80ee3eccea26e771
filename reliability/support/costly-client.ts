// A client that shakes hands with a hub in the most costly way it was told, again and again, until it is killed. Started by
// the row costly-handshakes: arguments are the hub's port, an address of its own, a file with a chain and its key.

import { readFileSync } from 'node:fs'
import { shakeHandsOnce } from './shake-hands-once.ts'

const [port = '', address = '', file = ''] = process.argv.slice(2)
const pem = readFileSync(file, 'utf8')
for (;;) await shakeHandsOnce({ port: Number(port), address, cert: pem, key: pem })
