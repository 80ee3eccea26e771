// A call, or several, of each method that is about sessions, as writer-calls.ts has the others.

import type { SessionWriter } from '../../src/hub/store/session-store.ts'
import type { TokenHash } from '../../src/protocol/identifiers.ts'
import { FILLED_AT } from './filled-tables.ts'
import type { PortCalls } from './reader-calls.ts'

const NOW = FILLED_AT
const LATER = new Date(NOW.getTime() + 60_000)

const hashed = (begin: string): TokenHash => begin.padEnd(64, '0') as TokenHash
/** That is there; its token is as well. */
const KNOWN = hashed('600000123')
const TOKEN = hashed('c00000123')

export const SESSION_CALLS: PortCalls<keyof SessionWriter> = {
  find: [(w) => w.sessions.find(KNOWN), (w) => w.sessions.find(hashed('9'))],
  list: [(w) => w.sessions.list()],
  findCode: [(w) => w.sessions.findCode(hashed('500000123'))],
  insert: [
    (w) =>
      w.sessions.insert({
        cookieHash: hashed('9'),
        secretHash: hashed('8'),
        tokenHash: TOKEN,
        address: '192.0.2.7',
        startedAt: NOW,
        lastUsedAt: NOW,
        endsAt: LATER,
        endedAt: null,
      }),
  ],
  setUsed: [(w) => w.sessions.setUsed(KNOWN, NOW)],
  setEnded: [(w) => w.sessions.setEnded(KNOWN, NOW)],
  remove: [(w) => w.sessions.remove(KNOWN)],
  insertCode: [
    (w) =>
      w.sessions.insertCode(
        { hash: hashed('9'), tokenHash: TOKEN, expiresAt: LATER, usedAt: null },
        NOW,
      ),
  ],
  setCodeUsed: [(w) => w.sessions.setCodeUsed(hashed('500000123'), NOW)],
  removeTokensOfPeople: [
    (w) =>
      w.sessions.removeTokensOfPeople({ now: NOW, endedBefore: NOW, keptMax: 1, also: [TOKEN] }),
  ],
  removeAll: [(w) => w.sessions.removeAll()],
}
