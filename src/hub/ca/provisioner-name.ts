// A token names its provisioner, but a hub is configured with the key id only: the name is asked for and remembered.

import { printableExtract } from '../../platform/printable.ts'
import { unlessAborted } from '../../platform/unless-aborted.ts'
import { CaError } from './certificate-authority.ts'
import type { CaConnection } from './ca-connection.ts'
import { failureOfReply } from './ca-reply.ts'

export interface ProvisionerName {
  get(signal: AbortSignal): Promise<string>
  /** The CA did not accept this name any more, so the next call asks again. */
  forget(name: string): void
}

interface Page {
  readonly names: ReadonlyMap<string, string>
  readonly nextCursor: string
}

const PAGE_SIZE = 20
const PAGES_MAX = 100
const KIDS_SHOWN_MAX = 5
const KID_CHARACTERS_MAX = 64

export function fixedProvisionerName(name: string): ProvisionerName {
  return { get: () => Promise.resolve(name), forget: () => undefined }
}

/** Looks the name up at most once at a time, however many wait for it. */
export function lookedUpProvisionerName(
  connection: CaConnection,
  kid: string,
  deadlineMs: number,
): ProvisionerName {
  let known: string | undefined
  let underWay: Promise<string> | undefined
  const lookUp = async (): Promise<string> => {
    try {
      known = await findProvisionerName(connection, kid, AbortSignal.timeout(deadlineMs))
      return known
    } finally {
      underWay = undefined
    }
  }
  return {
    // A look-up that others wait for too goes on when one of them has run out of time.
    get: async (signal) => known ?? unlessAborted((underWay ??= lookUp()), signal),
    forget: (name) => {
      if (known === name) known = undefined
    },
  }
}

async function findProvisionerName(
  connection: CaConnection,
  kid: string,
  signal: AbortSignal,
): Promise<string> {
  let cursor = ''
  const others: string[] = []
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { names, nextCursor } = await loadPage(connection, cursor, signal)
    const name = names.get(kid)
    if (name !== undefined) return name
    others.push(...names.keys())
    if (nextCursor === '' || nextCursor === cursor) break
    cursor = nextCursor
  }
  const found = others
    .slice(0, KIDS_SHOWN_MAX)
    .map((other) => printableExtract(other, KID_CHARACTERS_MAX))
  const hint = found.length === 0 ? 'it has none at all' : `it has ${found.join(', ')}`
  throw new CaError('refused', `the CA has no JWK provisioner with the key id ${kid}; ${hint}`, {
    variable: 'SVC_CA_PROVISIONER_KID',
  })
}

async function loadPage(
  connection: CaConnection,
  cursor: string,
  signal: AbortSignal,
): Promise<Page> {
  const query = new URLSearchParams({
    limit: String(PAGE_SIZE),
    ...(cursor === '' ? {} : { cursor }),
  })
  const reply = await connection.send({
    method: 'GET',
    path: `/provisioners?${query.toString()}`,
    signal,
  })
  if (reply.status !== 200) throw failureOfReply(reply, 'list its provisioners')
  const page = parsePage(reply.body)
  if (page === undefined) {
    throw new CaError('refused', 'the list of provisioners of the CA cannot be read', {
      variable: 'SVC_CA_URL',
    })
  }
  return page
}

function parsePage(body: string): Page | undefined {
  try {
    const { provisioners, nextCursor } = JSON.parse(body) as {
      provisioners: readonly { type?: unknown; name?: unknown; key?: { kid?: unknown } }[] | null
      nextCursor?: unknown
    }
    const names = new Map<string, string>()
    for (const { type, name, key } of provisioners ?? []) {
      if (type === 'JWK' && typeof name === 'string' && typeof key?.kid === 'string') {
        names.set(key.kid, name)
      }
    }
    return { names, nextCursor: typeof nextCursor === 'string' ? nextCursor : '' }
  } catch {
    // Not JSON, or not of this shape: the caller has one answer for both.
    return undefined
  }
}
