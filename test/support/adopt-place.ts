// Files of a certificate in a directory, and servers that serve it: what `svc-agent adopt` proposes for them.

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer, type Server } from 'node:tls'
import { createConfigReader } from '../../src/agent/adopt/config-reader.ts'
import type { ServiceUse } from '../../src/agent/adopt/find-uses.ts'
import type { Proposal } from '../../src/agent/adopt/proposal.ts'
import { type ProposalContext, propose } from '../../src/agent/adopt/propose.ts'
import { makeOwnDirectory } from './own-place.ts'
import { createPairMaterial } from './pair-material.ts'

export interface Place {
  readonly path: (name: string) => string
  readonly port: number
  /** The port of one more server. */
  readonly serve: (cert: string, key: string) => Promise<number>
  readonly use: (given?: Partial<ServiceUse>) => ServiceUse
  readonly ask: (
    uses: readonly ServiceUse[],
    given?: Partial<ProposalContext>,
  ) => Promise<Proposal[]>
}

export const MATERIAL = createPairMaterial()

/** Files of a certificate, and a server that serves it. */
export async function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const directory = await makeOwnDirectory('svc-agent-propose-')
  const { leafPem, keyPem } = await MATERIAL
  const servers: Server[] = []
  const serve = async (cert: string, key: string): Promise<number> => {
    const server = createServer({ cert, key }).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  try {
    const port = await serve(leafPem, keyPem)
    const path = (name: string): string => join(directory, name)
    await mkdir(path('targets.d'))
    await writeFile(path('site.pem'), leafPem, { mode: 0o644 })
    await writeFile(path('site.key'), keyPem, { mode: 0o600 })
    const uid = process.getuid?.() ?? 0
    const applier = { uid, gid: process.getgid?.() ?? 0, groupIds: [], ownDirectories: [] }
    const context: ProposalContext = {
      targetsDir: path('targets.d'),
      applier,
      reader: createConfigReader(),
      renewers: [],
      takenFiles: new Set(),
      takenPaths: new Set(),
      adopted: new Map(),
    }
    await work({
      path,
      port,
      serve,
      use: (given = {}) => ({
        kind: 'nginx',
        certificatePath: path('site.pem'),
        keyPath: path('site.key'),
        listeners: [{ host: '127.0.0.1', port }],
        serverName: 'site.test',
        reload: ['systemctl', 'reload', 'nginx.service'],
        ...given,
      }),
      ask: (uses, given = {}) => propose({ ...context, ...given }, { uses }),
    })
  } finally {
    for (const server of servers) server.close()
    await rm(directory, { recursive: true })
  }
}

/** All of them with one serial number. */
export function selfSigned(
  stem: string,
  name = 'site.test',
): { readonly cert: string; readonly key: string } {
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-set_serial', '7']
  const [key, cert] = [`${stem}.key`, `${stem}.pem`]
  const subject = [
    '-subj',
    '/CN=x',
    '-addext',
    `subjectAltName=DNS:${name}`,
    '-keyout',
    key,
    '-out',
    cert,
  ]
  execFileSync('openssl', ['req', '-x509', '-nodes', ...made, ...subject], { stdio: 'pipe' })
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}
