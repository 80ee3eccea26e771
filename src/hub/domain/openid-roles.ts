// Which groups of an OpenID provider have which role: the text of SVC_OIDC_ROLES. docs/protocol.md OID-5.

import { ADMIN_ROLES, type AdminRole } from '../../protocol/admin/roles.ts'
import { findReportedKey, formatSelector, parseSelector } from '../../protocol/selector.ts'

export interface RoleOfGroup {
  readonly role: AdminRole
  /** The selector of the hosts that it is for; null for all. */
  readonly only: string | null
  /** `EVERYBODY` for whomever the provider signs in. */
  readonly group: string
}

export type ParsedRoles =
  | { readonly ok: true; readonly roles: readonly RoleOfGroup[] }
  | { readonly ok: false; readonly why: string }

export const EVERYBODY = '*'
/** Of a group that counts; a longer one is no group. */
export const GROUP_CHARACTERS_MAX = 256
const ENTRIES_MAX = 100

/** What is in brackets has no end of an entry in it; a group may have any `=`, as the name of an LDAP entry does. */
const ENTRY = /^(?<role>[a-z]+)(?:\[(?<only>[^\]]*)\])?=(?<group>.+)$/
const BETWEEN = /;(?![^[\]]*\])/

export function parseOpenidRoles(text: string): ParsedRoles {
  const entries = text
    .split(BETWEEN)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  if (entries.length === 0) return fault('it has no entry such as admin=cartorio-admins')
  if (entries.length > ENTRIES_MAX) return fault(`it has more than ${ENTRIES_MAX} entries`)
  const roles: RoleOfGroup[] = []
  for (const entry of entries) {
    const parsed = parseEntry(entry)
    if ('why' in parsed) return fault(`${entry}: ${parsed.why}`)
    roles.push(parsed)
  }
  return { ok: true, roles }
}

function parseEntry(entry: string): RoleOfGroup | { readonly why: string } {
  const { role: name = '', only, group = '' } = ENTRY.exec(entry)?.groups ?? {}
  const role = ADMIN_ROLES.find((each) => each === name)
  if (role === undefined) {
    return { why: `it is not role=group or role[selector]=group, of ${ADMIN_ROLES.join(', ')}` }
  }
  const trimmed = group.trim()
  if (trimmed.length > GROUP_CHARACTERS_MAX) {
    return { why: `a group has at most ${GROUP_CHARACTERS_MAX} characters` }
  }
  if (only === undefined) return { role, only: null, group: trimmed }
  if (role === 'admin') return { why: 'role admin is for all hosts: a selector has no place' }
  const selector = parseSelector(only)
  if (!selector.ok) return { why: `column ${selector.column} of the selector: ${selector.message}` }
  const reported = findReportedKey(selector.selector)
  if (reported !== undefined) return { why: `the agents themselves say what ${reported} is` }
  return { role, only: formatSelector(selector.selector), group: trimmed }
}

function fault(why: string): ParsedRoles {
  return { ok: false, why }
}
