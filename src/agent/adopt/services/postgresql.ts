// PostgreSQL's settings: `name = value` a line; the last one counts, then postgresql.auto.conf, then the command line.

import { dirname, join, resolve } from 'node:path'
import { listenerAt, type ServiceFindings } from '../certificate-use.ts'
import type { ConfigReader } from '../config-reader.ts'

export interface PostgresqlCommand {
  readonly dataDir: string
  readonly configPath: string
  /** What the command line sets, lower case. */
  readonly settings: ReadonlyMap<string, string>
}

const INCLUDE_DEPTH_MAX = 10
const ON = /^(on|true|yes|1|t|tr|tru|y|ye)$/i

export function readPostgresql(
  reader: ConfigReader,
  { dataDir, configPath, settings: given }: PostgresqlCommand,
): ServiceFindings {
  const settings = new Map<string, string>()
  const remarks: string[] = []
  readFile(reader, configPath, settings, 0)
  const directory = given.get('data_directory') ?? settings.get('data_directory') ?? dataDir
  readFile(reader, join(directory, 'postgresql.auto.conf'), settings, 0)
  for (const [name, value] of given) settings.set(name, value)
  if (!ON.test(settings.get('ssl') ?? 'off')) return { uses: [], remarks }
  const addresses = (settings.get('listen_addresses') ?? 'localhost').split(',')
  const port = Number(settings.get('port') ?? 5432)
  const listeners = addresses
    .map((address) => address.trim())
    .filter((address) => address !== '')
    .flatMap((address) => listenerAt(address, port) ?? [])
  const certificatePath = resolve(directory, settings.get('ssl_cert_file') ?? 'server.crt')
  const keyPath = resolve(directory, settings.get('ssl_key_file') ?? 'server.key')
  return {
    uses: [
      {
        certificatePath,
        keyPath: keyPath === certificatePath ? undefined : keyPath,
        listeners,
        serverName: undefined,
      },
    ],
    remarks,
  }
}

/** The arguments of `postgres`, without the program. Undefined when it was not started on a data directory. */
export function parsePostgresqlCommand(
  argv: readonly string[],
  environmentDataDir?: string,
): PostgresqlCommand | undefined {
  const settings = new Map<string, string>()
  let dataDir = environmentDataDir
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? ''
    const next = argv[at + 1] ?? ''
    const set = (text: string): void => {
      const [name = '', ...value] = text.split('=')
      settings.set(name.replaceAll('-', '_').toLowerCase(), value.join('='))
    }
    if (word === '-D') dataDir = next
    else if (word.startsWith('-D')) dataDir = word.slice(2)
    else if (word === '-c') set(next)
    else if (word.startsWith('-c')) set(word.slice(2))
    else if (word === '-p') settings.set('port', next)
    else if (word === '-l') settings.set('ssl', 'on')
    else if (word === '-h') settings.set('listen_addresses', next)
    else if (word.startsWith('--')) set(word.slice(2))
    if (/^-[Dcph]$/.test(word)) at += 1
  }
  dataDir ??= settings.get('data_directory')
  if (dataDir === undefined) return undefined
  const configPath = settings.get('config_file') ?? join(dataDir, 'postgresql.conf')
  return { dataDir, configPath: resolve(dataDir, configPath), settings }
}

function readFile(
  reader: ConfigReader,
  path: string,
  settings: Map<string, string>,
  depth: number,
): void {
  const text = depth > INCLUDE_DEPTH_MAX ? undefined : reader.read(path)
  for (const line of (text ?? '').split('\n')) {
    const [, key = '', raw = ''] =
      /^\s*([A-Za-z_][\w.]*)(?:\s*=\s*|\s+)('(?:[^'\\]|''|\\.)*'|[^\s#]+)/.exec(line) ?? []
    const name = key.toLowerCase()
    const value = raw.startsWith("'")
      ? raw.slice(1, -1).replaceAll("''", "'").replaceAll(/\\(.)/g, '$1')
      : raw
    if (name === 'include' || name === 'include_if_exists') {
      readFile(reader, resolve(dirname(path), value), settings, depth + 1)
    } else if (name === 'include_dir') {
      const directory = resolve(dirname(path), value)
      for (const file of reader.list(directory) ?? []) {
        if (!/^[^.].*\.conf$/.test(file)) continue
        readFile(reader, join(directory, file), settings, depth + 1)
      }
    } else if (name !== '') settings.set(name, value)
  }
}
