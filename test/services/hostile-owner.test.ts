// The agent's user tries to become root, or to read or change what is another's, through what root runs: docs/protocol.md
// TGT-4, TGT-8, TGT-13, TGT-14, TGT-24, TGT-26, TGT-30, AGT-4, AGT-45, AGT-47 to 49, UPD-8, UPD-9, UPD-14. Each try is made by a process of
// that user's, against the real commands of root's.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { COMMAND_TRIES } from './support/hostile-commands.ts'
import { createMaterials, Ground, type Materials } from './support/hostile-ground.ts'
import { PAIR_TRIES, type Try } from './support/hostile-pairs.ts'
import { SOCKET_TRIES } from './support/hostile-sockets.ts'
import { skipUnlessRunnable } from './support/required-programs.ts'
import { forgetRelease, UPDATE_TRIES } from './support/hostile-updates.ts'

const skip = skipUnlessRunnable(['setpriv', 'perl', 'flock', 'minisign'])
const TRIES: readonly Try[] = [...PAIR_TRIES, ...SOCKET_TRIES, ...COMMAND_TRIES, ...UPDATE_TRIES]

describe(
  '[TGT-14] [TGT-30] [AGT-4] [AGT-47] [AGT-48] [AGT-49] [UPD-8] [UPD-9] a user who owns the data directory',
  { skip, concurrency: 3 },
  () => {
    let materials: Materials
    let made = 0
    let succeeded = 0
    before(async () => {
      materials = await createMaterials()
    })
    after(async () => {
      await forgetRelease()
      process.stdout.write(`${made} tries of a hostile owner, ${succeeded} succeeded\n`)
    })

    for (const { title, home = 'roots', run } of TRIES) {
      test(title, async () => {
        await using ground = await Ground.create(materials, home)
        made += 1
        succeeded += 1
        await run(ground)
        ground.assertUnharmed()
        succeeded -= 1
      })
    }

    test('there are tries enough, and no two are the same', () => {
      assert.ok(TRIES.length >= 40)
      assert.equal(new Set(TRIES.map(({ title }) => title)).size, TRIES.length)
    })
  },
)
