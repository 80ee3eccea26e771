// Every certificate that a running service reads, with how that service is reloaded and probed.

import { resolve } from 'node:path'
import { describeError } from '../../platform/errors.ts'
import type { CertificateUse, ServiceFindings, ServiceKind } from './certificate-use.ts'
import type { ConfigReader } from './config-reader.ts'
import { optionsOf, type RunningService } from './running-services.ts'
import { readApache } from './services/apache.ts'
import { readCaddy } from './services/caddy.ts'
import { readHaproxy } from './services/haproxy.ts'
import { readNginx } from './services/nginx.ts'
import { parsePostgresqlCommand, readPostgresql } from './services/postgresql.ts'

export interface ServiceUse extends CertificateUse {
  readonly kind: ServiceKind
  readonly reload: readonly string[] | undefined
}

export interface FoundUses {
  readonly uses: readonly ServiceUse[]
  readonly remarks: readonly string[]
}

/** More than a host can have targets [TGT-3]. */
const USES_MAX = 1000

type Reading = (reader: ConfigReader, service: RunningService) => ServiceFindings

const READINGS: Readonly<Record<ServiceKind, Reading>> = {
  nginx: (reader, { process }) => {
    const [prefix] = optionsOf(process.argv, '-p')
    const [configPath = '/etc/nginx/nginx.conf'] = optionsOf(process.argv, '-c')
    return readNginx(reader, resolve(prefix ?? '/etc/nginx', configPath))
  },
  apache: (reader, { process: { argv, program } }) => {
    const isDebians = program.endsWith('apache2')
    const [root = isDebians ? '/etc/apache2' : '/etc/httpd'] = optionsOf(argv, '-d')
    const [configPath = isDebians ? 'apache2.conf' : 'conf/httpd.conf'] = optionsOf(argv, '-f')
    return readApache(reader, { configPath: resolve(root, configPath), root })
  },
  haproxy: (reader, { process: { argv, workingDirectory } }) =>
    readHaproxy(
      reader,
      optionsOf(argv, '-f').map((path) => resolve(workingDirectory, path)),
    ),
  postgresql: (reader, { process: { argv, workingDirectory } }) => {
    const command = parsePostgresqlCommand(argv, workingDirectory)
    return command === undefined ? NOTHING : readPostgresql(reader, command)
  },
  caddy: (reader, { process: { argv, workingDirectory } }) => {
    const [path = 'Caddyfile'] = optionsOf(argv, '--config', '-c')
    return readCaddy(reader, resolve(workingDirectory, path))
  },
}

const NOTHING: ServiceFindings = { uses: [], remarks: [] }

/** A configuration that cannot be read says so, and holds up no other. */
export function findUses(
  services: readonly RunningService[],
  createReader: () => ConfigReader,
): FoundUses {
  const uses: ServiceUse[] = []
  const remarks: string[] = []
  for (const service of services) {
    const { kind, reload } = service
    try {
      const found = READINGS[kind](createReader(), service)
      uses.push(...found.uses.map((use) => ({ ...use, kind, reload })))
      remarks.push(...found.remarks.map((remark) => `${kind}: ${remark}`))
    } catch (error) {
      remarks.push(`${kind}: ${describeError(error)}`)
    }
  }
  if (uses.length > USES_MAX) {
    remarks.push(`${uses.length} certificates are used here; the first ${USES_MAX} are looked at`)
  }
  return { uses: uses.slice(0, USES_MAX), remarks: [...new Set(remarks)] }
}
