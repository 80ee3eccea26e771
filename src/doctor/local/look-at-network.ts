// Names and ports, without using any of them: names by `getent`, listeners as the kernel lists them. docs/protocol.md DOC-18, DOC-19.

import { readFile } from 'node:fs/promises'
import { isIP, type LookupFunction } from 'node:net'
import type { HubSettings } from '../../hub/config.ts'
import type { BindAddress } from '../../platform/bind-address.ts'
import type { NameFacts, PortFacts } from '../scene.ts'
import { runBounded } from './bounded-child.ts'

const LOOKUP_MS_MAX = 3000
const NAMES_MAX = 50
export const NO_NAME_SERVER = 'no name server answers'
const LISTENING = '0A'

export function lookUpNames({
  serverNames,
  isNamed,
}: Pick<HubSettings, 'serverNames' | 'isNamed'>): Promise<NameFacts[]> {
  const asked = serverNames
    .map((name, at) => ({ name, variable: at === 0 ? 'SVC_SERVER_CN' : 'SVC_SERVER_SANS' }))
    // Of a hub that nobody named nobody looks up the name.
    .filter(({ name }, at) => isIP(name) === 0 && !name.startsWith('*.') && (at > 0 || isNamed))
  return Promise.all(
    asked
      .slice(0, NAMES_MAX)
      .map(async (each) => ({ ...each, fault: (await findAddresses(each.name)).fault })),
  )
}

/** For a connection that is to be given up whenever its deadline says so. */
export const lookupByChild: LookupFunction = (hostname, options, done) => {
  void answerLookup(hostname, options.all === true, done)
}

async function answerLookup(
  hostname: string,
  isForAll: boolean,
  done: Parameters<LookupFunction>[2],
): Promise<void> {
  const { addresses, fault } = await findAddresses(hostname)
  const [first] = addresses
  if (first === undefined) {
    const code = fault === 'unknown name' ? 'ENOTFOUND' : 'EAI_AGAIN'
    done(Object.assign(new Error(`${hostname}: ${fault}`), { code }), '', 0)
  } else if (isForAll) done(null, addresses)
  else done(null, first.address, first.family)
}

export async function findAddresses(name: string): Promise<{
  readonly addresses: { address: string; family: number }[]
  readonly fault: string | undefined
}> {
  const { status, stdout } = await runBounded('getent', ['ahosts', name], LOOKUP_MS_MAX)
  const texts = new Set(stdout.split('\n').map((line) => line.split(/\s/)[0] ?? ''))
  const addresses = [...texts]
    .map((address) => ({ address, family: isIP(address) }))
    .filter(({ family }) => family !== 0)
  if (addresses.length > 0) return { addresses, fault: undefined }
  return { addresses, fault: status === undefined ? NO_NAME_SERVER : 'unknown name' }
}

/** Only those whose number the settings say. */
export async function lookAtListeners(settings: HubSettings): Promise<PortFacts[]> {
  const listeners = [
    ...parseListeners(await readFile('/proc/net/tcp', 'utf8')),
    ...parseListeners(await readFile('/proc/net/tcp6', 'utf8').catch(() => '')),
  ]
  const { metricsBind } = settings
  const wanted: readonly [variable: string, address: BindAddress | undefined][] = [
    ['SVC_HEALTH_BIND', settings.healthBind],
    ['SVC_ENROLL_BIND', settings.enrollBind],
    ['SVC_MTLS_BIND', settings.mtlsBind],
    ['SVC_ENROLL_TLS_BIND', settings.enrollTlsBind],
    ['SVC_ADMIN_BIND', settings.adminBind],
    // A hub starts without the one that nobody asked for.
    ['SVC_METRICS_BIND', metricsBind?.isDefault === false ? metricsBind.address : undefined],
  ]
  return wanted.flatMap(([variable, bind]) => {
    if (bind === undefined || bind.port === 0) return []
    const { host, port } = bind
    const isListening = listeners.some((each) => each.port === port && overlap(each.host, host))
    return [
      { variable, address: `${isIP(host) === 6 ? `[${host}]` : host}:${port}`, port, isListening },
    ]
  })
}

const ANY = new Set(['0.0.0.0', '::'])

/** A name may mean any address of this machine, and addresses of six words are not taken apart. */
function overlap(listener: string, wanted: string): boolean {
  if (ANY.has(listener) || ANY.has(wanted)) return true
  return isIP(wanted) !== 4 || isIP(listener) !== 4 || listener === wanted
}

/** IPv4 addresses of /proc/net/tcp are little-endian words in hex; of /proc/net/tcp6 only `::` is told from the rest. */
export function parseListeners(table: string): BindAddress[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state] = line.trim().split(/\s+/)
      const [address = '', port = ''] = local.split(':')
      if (state !== LISTENING) return []
      return [{ host: readAddress(address), port: Number.parseInt(port, 16) }]
    })
}

function readAddress(hex: string): string {
  if (hex.length === 8)
    return [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join('.')
  return /^0+$/.test(hex) ? '::' : `::${hex.slice(-4).toLowerCase()}`
}
