// A login as `svc login` keeps it: whose it is, at which hub, by which root, until when, and its token. docs/protocol.md OID-34.

import { Type, type Static } from 'typebox'
import { Check } from 'typebox/value'
import { parseJson } from '../../platform/parse-json.ts'
import { Secret } from '../../platform/secret.ts'
import { ADMIN_ROLES } from '../../protocol/admin/roles.ts'

const text = Type.String({ maxLength: 1024 })

const document = Type.Object({
  version: Type.Literal(1),
  /** An origin: https, host and port. */
  hub: text,
  /** The root that svc was given for that hub, PEM; null for the store of the system. */
  hub_ca: Type.Union([Type.String(), Type.Null()]),
  name: text,
  role: Type.Enum([...ADMIN_ROLES]),
  only: Type.Union([Type.String(), Type.Null()]),
  provider: Type.Object({ name: text, issuer: text }),
  expires_at: Type.String({ pattern: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.source }),
  token: Type.String({ pattern: /^svca_[A-Za-z0-9_-]{43}$/.source }),
})

export interface KeptLogin extends Pick<
  Static<typeof document>,
  'name' | 'role' | 'only' | 'provider'
> {
  /** The origin of the hub that made it, and the only one that gets it. */
  readonly hub: string
  readonly caPem: string | undefined
  readonly expiresAt: Date
  readonly token: Secret<string>
}

/** Undefined for what is no login of this version. */
export function parseKeptLogin(content: string): KeptLogin | undefined {
  return makeKeptLogin(parseJson(content))
}

/** As a hub made it: what could not be read back is none. */
export function newKeptLogin(
  made: Omit<Static<typeof document>, 'version'>,
): KeptLogin | undefined {
  return makeKeptLogin({ version: 1, ...made })
}

function makeKeptLogin(parsed: unknown): KeptLogin | undefined {
  if (!Check(document, parsed)) return undefined
  const { hub, hub_ca: caPem, name, role, only, provider, token } = parsed
  const expiresAt = new Date(parsed.expires_at)
  if (Number.isNaN(expiresAt.getTime())) return undefined
  return {
    hub,
    caPem: caPem ?? undefined,
    name,
    role,
    only,
    provider,
    expiresAt,
    token: new Secret(token),
  }
}

export function renderKeptLogin(login: KeptLogin): string {
  const { hub, caPem = null, name, role, only, provider, expiresAt, token } = login
  const rendered: Static<typeof document> = {
    version: 1,
    hub,
    hub_ca: caPem,
    name,
    role,
    only,
    provider,
    expires_at: expiresAt.toISOString(),
    token: token.reveal(),
  }
  return `${JSON.stringify(rendered, null, 2)}\n`
}
