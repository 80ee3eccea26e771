// What a service's configuration says about a certificate: the common ground of all parsers.

export const SERVICE_KINDS = ['nginx', 'apache', 'haproxy', 'postgresql', 'caddy'] as const
export type ServiceKind = (typeof SERVICE_KINDS)[number]

/** Where a service listens with a certificate; `*` in a configuration is loopback here. */
export interface Listener {
  readonly host: string
  readonly port: number
}

/** One certificate as a service reads it. */
export interface CertificateUse {
  /** Absolute, as the configuration has it: it may lead through links. */
  readonly certificatePath: string
  /** Undefined where the key is in the certificate's file. */
  readonly keyPath: string | undefined
  /** Where intermediates have a file of their own. */
  readonly chainPath?: string | undefined
  readonly listeners: readonly Listener[]
  /** The name to ask for (SNI): undefined for the certificate that a client gets without one. */
  readonly serverName: string | undefined
}

/** `remarks`: what was seen and cannot be adopted, a sentence each. */
export interface ServiceFindings {
  readonly uses: readonly CertificateUse[]
  readonly remarks: readonly string[]
}

const EVERYWHERE = new Set(['', '*', '0.0.0.0', '_default_'])

/** The address at which this host reaches a listener; undefined when there is no such port. */
export function listenerAt(address: string, port: number): Listener | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined
  const bare = address.replace(/^\[(.*)\]$/, '$1')
  if (EVERYWHERE.has(bare)) return { host: '127.0.0.1', port }
  return { host: bare === '::' ? '::1' : bare, port }
}

/** `address:port`, `[address]:port`, a port alone, an address alone; undefined when it is no address of TCP. */
export function parseListener(text: string, defaultPort: number): Listener | undefined {
  if (/^\d{1,5}$/.test(text)) return listenerAt('', Number(text))
  const [, address, port] =
    /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.*-]*)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (address === undefined) return undefined
  return listenerAt(address, port === undefined ? defaultPort : Number(port))
}

/** The first name that a client could ask for; `*.example.org` is asked for as `www.example.org`. */
export function nameToAskFor(names: readonly string[]): string | undefined {
  const asked = names.map((name) => name.replace(/^\*?\./, 'www.'))
  return asked.find((name) => /^(?=.*[A-Za-z])[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/.test(name))
}
