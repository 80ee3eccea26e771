// A call, or several, of each method that is about passkeys, as writer-calls.ts has the others.

import type { PasskeyWriter } from '../../src/hub/store/passkey-store.ts'
import { FILLED_AT } from './filled-tables.ts'
import { newPasskey } from './passkey-samples.ts'
import type { PortCalls } from './reader-calls.ts'

const KNOWN = 'credential-123'
const PERSON = { issuer: 'https://sso.example.org', subject: '123' }

export const PASSKEY_CALLS: PortCalls<keyof PasskeyWriter> = {
  find: [(w) => w.passkeys.find(KNOWN), (w) => w.passkeys.find('nobody')],
  listOf: [
    (w) => w.passkeys.listOf({ name: 'ci-123', person: null }),
    (w) => w.passkeys.listOf({ name: 'ana', person: PERSON }),
  ],
  list: [(w) => w.passkeys.list()],
  insert: [(w) => w.passkeys.insert(newPasskey({ name: 'ana', person: null }))],
  setUsed: [(w) => w.passkeys.setUsed(KNOWN, { challengedAt: FILLED_AT, counter: 1 }, FILLED_AT)],
  remove: [(w) => w.passkeys.remove(KNOWN)],
}
