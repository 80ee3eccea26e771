// A file of hosts: a line a host, `#` begins a comment, blank lines do not count. docs/protocol.md CLI-62.

import { UserError } from '../../../platform/errors.ts'
import { printable } from '../../../platform/printable.ts'
import type { OpenSecretSource } from '../../sealed/secret-source.ts'

export interface ListedHost {
  readonly name: string
  /** What stands after the name. */
  readonly rest: string
}

export interface HostFileOptions {
  /** Nothing stands after a name. */
  readonly hasNamesOnly?: boolean
}

const BYTES_MAX = 16 * 1024 * 1024
const HOSTS_MAX = 200_000
/** A hostname or an id; the hub says what it thinks of it. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/

/** `-` is standard input. Opened before svc becomes the owner of the vault, who perhaps may not read it. */
export async function readHostFile(
  openFile: OpenSecretSource,
  path: string,
  options: HostFileOptions = {},
): Promise<readonly ListedHost[]> {
  const source = await openFile(path)
  try {
    const content = await source.read(BYTES_MAX)
    if (content === undefined) throw tooLong(source.name)
    return parseHostFile(content.toString('utf8'), source.name, options)
  } finally {
    await source.close()
  }
}

/** Each host once. Throws on the first line that names none: nothing is done for half a list. */
export function parseHostFile(
  text: string,
  name: string,
  { hasNamesOnly = false }: HostFileOptions = {},
): readonly ListedHost[] {
  const hosts = new Map<string, ListedHost>()
  for (const [index, line] of text.split('\n').entries()) {
    const [host = '', ...words] = (line.split('#')[0] ?? '').trim().split(/\s+/)
    if (host === '') continue
    const place = `${name}, line ${index + 1}`
    if (!NAME.test(host)) {
      throw new UserError(
        'hosts_invalid',
        `${place}: ${printable(host.slice(0, 80))} is no hostname and no id`,
        { hint: 'one host a line; # begins a comment' },
      )
    }
    const rest = words.join(' ')
    if (hasNamesOnly && rest !== '') {
      throw new UserError(
        'hosts_invalid',
        `${place}: ${host} is followed by ${printable(rest.slice(0, 80))}: one name a line`,
      )
    }
    const other = hosts.get(host)
    if (other !== undefined && other.rest !== rest) {
      throw new UserError('hosts_invalid', `${place}: ${host} stands there twice, and differs`)
    }
    hosts.set(host, { name: host, rest })
    if (hosts.size > HOSTS_MAX) throw tooLong(name)
  }
  if (hosts.size === 0) throw new UserError('hosts_invalid', `${name} names no host`)
  return [...hosts.values()]
}

function tooLong(name: string): UserError {
  return new UserError('hosts_invalid', `${name} names more than ${HOSTS_MAX} hosts`, {
    hint: 'split the file',
  })
}
