import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdminErrorDetails } from '../../protocol/admin/errors.ts'
import type { AdminOperationName } from '../../protocol/admin/operations.ts'
import { findHint } from './hints.ts'

const CASES: readonly (readonly [
  code: string,
  operation: AdminOperationName,
  details: AdminErrorDetails,
  hint: string | undefined,
])[] = [
  ['agent_not_found', 'showAgent', {}, 'svc agent list shows ids and hostnames'],
  ['hostname_has_token', 'createToken', { token_id: 'ab12' }, 'svc token revoke ab12 ends it'],
  [
    'reenroll_forbidden',
    'createToken',
    { politica: '*' },
    "an admin may do it, or let operators do it: svc policy set '*' --reenroll",
  ],
  [
    'san_forbidden',
    'createCargo',
    { politica: 'web', san: 'a.shop.example' },
    'an admin may do it, or let operators do it: svc policy set web --san a.shop.example, in place of the names that it permits now',
  ],
  [
    'san_forbidden',
    'createCargo',
    {},
    'svc agent show names the policies of a host, svc policy show says what each permits',
  ],
  ['san_forbidden', 'setPolicy', {}, 'permit it by --san, or leave the load out'],
  [
    'politica_not_found',
    'showPolicy',
    { politica: '*' },
    "the policy of role * applies to it: svc policy show '*'",
  ],
  ['politica_not_found', 'showPolicy', {}, 'svc policy list shows which roles have one'],
  [
    'bundle_number',
    'updateBundle',
    { reason: 'not_greater' },
    'the number must grow; --new-epoch counts again from 1',
  ],
  ['delivery_over', 'retryDeliveries', { status: 'cancelada' }, 'svc load create makes a new one'],
  ['time_invalid', 'listEntries', {}, 'write it as 2026-01-31T12:00:00Z'],
  ['idempotency_key_reused', 'createToken', {}, undefined],
  ['something_new', 'createToken', {}, undefined],
]

for (const [code, operation, details, hint] of CASES) {
  test(`[API-14] ${code} of ${operation} ${JSON.stringify(details)} is hinted at by svc`, () => {
    assert.equal(findHint(code, { operation, request: {}, details }), hint)
  })
}
