import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type BackedUpVault, openBackedUpVault } from '../../test/support/backed-up-vault.ts'
import { actsDirectory, readActNotes } from './acts-directory.ts'
import { checkpointFiles } from './checkpoint-files.ts'
import { keepOutside, readKeptOutside } from './keep-outside.ts'

describe('[BKP-15] outside the vault', () => {
  let made: BackedUpVault
  let directory: string
  before(async () => {
    made = await openBackedUpVault()
    await made.fill(3)
    directory = await mkdtemp(join(tmpdir(), 'outside-'))
  })
  after(async () => {
    await made[Symbol.asyncDispose]()
    await rm(directory, { recursive: true })
  })

  test('[CHN-17] [CHN-40] there is no checkpoint without the acts that it covers', async () => {
    const { vault, store } = made
    const tree = await made.sign()
    const acts = `${vault.vaultId}.acts.000000000001.000000000000000`
    // The place of the segment is taken: as with a directory that is full.
    await mkdir(join(directory, acts))
    const keep = keepOutside(directory, vault.vaultId, store.reader)
    await assert.rejects(keep(tree))
    assert.deepEqual(await readdir(directory), [acts])
    await rm(join(directory, acts), { recursive: true })
    await keep(tree)
    assert.deepEqual(await readdir(directory), [acts, `${vault.vaultId}.checkpoint`])
    assert.equal((await stat(join(directory, acts))).mode & 0o777, 0o600)
    const [note] = await readActNotes(actsDirectory(directory, vault.vaultId))
    // What witnesses have signed stands beside it, and is written again only when it is another one.
    const cosigned = `${vault.vaultId}.cosigned`
    await keep({ ...tree, cosigned: 'by one witness' })
    await rm(join(directory, cosigned))
    await keep({ ...tree, cosigned: 'by one witness' })
    assert.deepEqual(await readdir(directory), [acts, `${vault.vaultId}.checkpoint`])
    await keep({ ...tree, cosigned: 'by two' })
    assert.equal(await readFile(join(directory, cosigned), 'utf8'), 'by two')
    assert.equal((await stat(join(directory, cosigned))).mode & 0o777, 0o644)
    assert.match(note ?? '', /^cartorio-acts\/v1\ncartorio\/[0-9a-f-]{36}\n1 0 0 0 3\n\n— /)
  })

  test('[BKP-9] a restore finds what was set aside, the newest first, and nothing of another vault', async () => {
    const { vaultId } = made.vault
    const files = checkpointFiles(directory, vaultId)
    await checkpointFiles(directory, `${vaultId}0`).write({ checkpoint: 'x', cosigned: undefined })
    for (const [hour, checkpoint] of ['one', 'two', 'three'].entries()) {
      await files.write({ checkpoint, cosigned: `${checkpoint} by a witness` })
      if (hour < 2) await files.setAside(new Date(Date.UTC(2026, 0, 1, hour)))
    }
    const kept = await readKeptOutside(directory, vaultId)
    assert.deepEqual(kept.checkpoints, ['three', 'three by a witness'])
    assert.deepEqual(kept.earlier.slice(0, 2).toSorted(), ['two', 'two by a witness'])
    assert.deepEqual(kept.earlier.slice(2).toSorted(), ['one', 'one by a witness'])
    assert.equal(kept.acts.length, 1)
  })

  test('[BKP-9] a restore reads nothing that no restore has set aside', async () => {
    const { vaultId } = made.vault
    const place = await mkdtemp(join(directory, 'another-'))
    const files = checkpointFiles(place, vaultId)
    await files.write({ checkpoint: 'one', cosigned: undefined })
    await files.setAside(new Date(Date.UTC(2026, 0, 1)))
    const path = join(place, `${vaultId}.checkpoint`)
    await mkdir(`${path}.old`)
    await writeFile(`${path}.save`, Buffer.alloc(300_000))
    for (let number = 0; number < 50; number += 1) await writeFile(`${path}.~${number}~`, 'two')
    assert.deepEqual((await readKeptOutside(place, vaultId)).earlier, ['one'])
  })
})
