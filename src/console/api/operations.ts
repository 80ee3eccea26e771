// The admin operations as the page knows them: the types are the hub's own, and the table is put in place by the build.

import type {
  AdminNamesOf,
  AdminOperationName,
  AdminReplies,
  AdminRequest,
} from '../../protocol/admin/operations.ts'
import type { AdminRehearsal } from '../../protocol/admin/operation.ts'
import type { AdminRole } from '../../protocol/admin/roles.ts'

export type { AdminOperationName, AdminRehearsal, AdminReplies, AdminRequest, AdminRole }

export type ReadName = AdminNamesOf<'reads'>
export type ActName = AdminNamesOf<'changes' | 'creates'>

type OperationRow = readonly [
  method: 'GET' | 'POST',
  path: string,
  role: AdminRole,
  does: 'reads' | 'changes' | 'creates',
  isForSomeHosts: boolean,
]

declare const CONSOLE_OPERATIONS: Readonly<Record<AdminOperationName, OperationRow>>

export function methodOf(name: AdminOperationName): 'GET' | 'POST' {
  return CONSOLE_OPERATIONS[name][0]
}

/** `:field` in it stands for a field of the request. */
export function pathOf(name: AdminOperationName): string {
  return CONSOLE_OPERATIONS[name][1]
}

export function roleNeeded(name: AdminOperationName): AdminRole {
  return CONSOLE_OPERATIONS[name][2]
}

export function isCreate(name: AdminOperationName): boolean {
  return CONSOLE_OPERATIONS[name][3] === 'creates'
}

/** Whether a token that is for some hosts only may ask for it. */
export function isForSomeHosts(name: AdminOperationName): boolean {
  return CONSOLE_OPERATIONS[name][4]
}
