// Which admin operation a request is; whatever is none is not passed on. Pure. docs/protocol.md LOC-5.

import { CHANGES_ROUTE } from '../../protocol/admin/changes-route.ts'
import {
  ADMIN_OPERATION_NAMES,
  ADMIN_OPERATIONS,
  type AdminOperationName,
} from '../../protocol/admin/operations.ts'

export type PassedOn = AdminOperationName | 'changes'

/** A field in a path is one segment of it, as browsers write it. */
const FIELD = "[\\w.~%!$&'()*+,;=:@-]{1,512}"

const ROUTES: readonly (readonly [name: PassedOn, method: string, path: RegExp])[] = [
  ['changes', CHANGES_ROUTE.method, toPattern(CHANGES_ROUTE.path)],
  // The token is svc's own: a page ends its session, not that.
  ...ADMIN_OPERATION_NAMES.filter((name) => name !== 'revokeOwnToken').map((name) => {
    const { method, path } = ADMIN_OPERATIONS[name]
    return [name, method, toPattern(path)] as const
  }),
]

/** `path` without its query. */
export function findOperation(method: string, path: string): PassedOn | undefined {
  // The hub must not read another path than is looked at here.
  if (/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path) || /%2f|%5c/i.test(path)) return undefined
  return ROUTES.find((route) => route[1] === method && route[2].test(path))?.[0]
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/:\w+/g, FIELD)}$`)
}
