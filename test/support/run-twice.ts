// A store that runs each write function twice, of which only the second run counts: as a store does whose transaction was
// taken back, by another writer or with its connection. What a write function leaves outside its writer then shows.

import type { Store, StoreWriter } from '../../src/hub/store/store.ts'

/** Takes back what the first run wrote. */
class TakenBack extends Error {}

type Write = Store['write']

export function runTwice(write: Write): Write {
  return async (work, company) => {
    const discard = async (writer: StoreWriter): Promise<never> => {
      await work(writer)
      throw new TakenBack()
    }
    await write(discard, company).catch(() => undefined)
    return write(work, company)
  }
}
