import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import {
  countOperations,
  file,
  hostWithOldFiles,
  kindsOf,
  type TargetHost,
} from '../../../test/fakes/target-host.ts'
import { propertyRuns } from '../../../test/support/property.ts'

/** What must hold once the host is back and has made a pass, whatever the trouble was. */
async function assertWholeOldOrNew(
  host: TargetHost,
  before: Map<string, string>,
  what: string,
  { isServerKnown = true, isTellingKnown = true } = {},
): Promise<'old' | 'new'> {
  // As it is after recovery alone: nothing new is applied while its time has not come.
  const { applied, results } = await host.pass()
  const told = kindsOf(applied.listReports()).slice(1)
  const stands = host.stand()
  assert.deepEqual(host.leftovers(), [], `${what}: nothing is left behind`)
  if (results[0]?.result === 'held_back') {
    assert.deepEqual(stands, before, `${what}: the whole old set`)
    if (isTellingKnown) assert.equal(told.length, 1, `${what}: told once, not ${told.join()}`)
    assert.match(told.at(-1) ?? '', /^alvo_revertido /)
    if (isServerKnown) assert.deepEqual(host.served, before, `${what}: the server has the old set`)
    return 'old'
  }
  assert.deepEqual(stands, host.whole('02'), `${what}: the whole new set`)
  assert.deepEqual(told, ['alvo_aplicado'], what)
  if (isServerKnown) assert.deepEqual(host.served, host.whole('02'), `${what}: served`)
  return 'new'
}

describe('a change that is cut short', () => {
  test('[TGT-17] killed before any operation leaves, after the next pass, the whole old or the whole new set', async () => {
    const ends = new Map<string, number>()
    const count = await countOperations()
    assert.ok(count > 60, `only ${count} operations`)
    for (let at = 1; at <= count; at += 1) {
      const host = await hostWithOldFiles()
      const before = host.stand()
      const start = host.disk.operations
      host.disk.trouble = (operation) => (operation - start === at ? 'kill' : undefined)
      await host.troubledPass()
      const end = await assertWholeOldOrNew(host, before, `killed before operation ${at}`)
      ends.set(end, (ends.get(end) ?? 0) + 1)
    }
    assert.ok((ends.get('old') ?? 0) > 30 && (ends.get('new') ?? 0) > 2, String([...ends]))
  })

  test('[TGT-17] killed again before any operation of the recovery it is still told exactly once', async () => {
    const count = await countOperations()
    for (let at = 1; at <= count; at += 3) {
      for (let again = 1; again < 500; again += 1) {
        const host = await hostWithOldFiles()
        const before = host.stand()
        let start = host.disk.operations
        host.disk.trouble = (operation) => (operation - start === at ? 'kill' : undefined)
        await host.troubledPass()
        start = host.disk.operations
        let isReached = false
        host.disk.trouble = (operation) => {
          isReached ||= operation - start === again
          return operation - start === again ? 'kill' : undefined
        }
        await host.troubledPass()
        if (!isReached) break
        await assertWholeOldOrNew(host, before, `killed before ${at}, then before ${again}`)
      }
    }
  })

  test('[TGT-17] a power cut that forgets what was not synced leaves the whole old or the whole new set', async () => {
    const count = await countOperations()
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: count + 40 }),
        fc.infiniteStream(fc.boolean()),
        fc.boolean(),
        fc.boolean(),
        async (at, choices, reloadFails, isSwept) => {
          const host = await hostWithOldFiles()
          const before = host.stand()
          host.reloadFails = reloadFails
          const start = host.disk.operations
          host.disk.trouble = (operation) => (operation - start === at ? 'kill' : undefined)
          await host.pass().catch(() => undefined)
          host.disk.cutPower(() => choices.next().value === true)
          // Somebody tidies up what looks like left over; the journal has its own copies.
          const staged = host.leftovers().filter((path) => path.includes('/.svc-target-'))
          if (isSwept) for (const path of staged) host.disk.removeQuietly(path)
          host.reloadFails = false
          await assertWholeOldOrNew(host, before, `power cut before ${at}`, {
            isServerKnown: false,
          })
        },
      ),
      propertyRuns(1000),
    )
  })

  test('[TGT-17] a damaged journal is named, and its target is left as it is', async () => {
    const host = await hostWithOldFiles()
    const start = host.disk.operations
    const count = await countOperations()
    host.disk.trouble = (operation) =>
      operation - start === Math.floor(count * 0.7) ? 'kill' : undefined
    await host.troubledPass()
    const stands = host.stand()
    const entry = host.disk.paths('/state/journal').find((path) => path.endsWith('.json')) ?? ''
    for (const text of ['', '{', '{"format":1}']) {
      host.disk.putFile(entry, file(text, 0, 0o600))
      const { results, problems } = await host.pass({ isForced: true })
      assert.deepEqual(problems, [`${entry} is damaged`])
      assert.equal(results[0]?.result, 'stuck')
      assert.deepEqual(host.stand(), stands)
      assert.ok(host.disk.paths('/state/journal').some((path) => path.includes('/old-')))
    }
  })

  for (const trouble of ['full', 'broken'] as const) {
    test(`[TGT-17] a disk that is ${trouble} once, before any operation, costs nothing but the attempt`, async () => {
      const count = await countOperations()
      for (let at = 1; at <= count; at += 1) {
        const host = await hostWithOldFiles()
        const before = host.stand()
        const start = host.disk.operations
        host.disk.trouble = (operation) => (operation - start === at ? trouble : undefined)
        await host.troubledPass()
        await assertWholeOldOrNew(host, before, `${trouble} before operation ${at}`)
      }
    })
  }

  for (const brokenFor of [1, 2]) {
    test(`[TGT-17] killed while it is put back because its record failed, it leaves no mixture, ${brokenFor}`, async () => {
      const count = await countOperations()
      for (let at = Math.floor(count * 0.6); at <= count; at += 1) {
        for (let later = brokenFor; later < 60; later += 1) {
          const host = await hostWithOldFiles()
          const before = host.stand()
          const start = host.disk.operations
          let isReached = false
          host.disk.trouble = (operation) => {
            const nth = operation - start - at
            if (nth >= 0 && nth < brokenFor) return 'broken'
            isReached ||= nth === later
            return nth === later ? 'kill' : undefined
          }
          await host.troubledPass()
          if (!isReached) break
          // Broken twice, a record that was made may not be known to be there.
          const what = `broken before ${at}, killed ${later} later`
          await assertWholeOldOrNew(host, before, what, { isTellingKnown: brokenFor === 1 })
        }
      }
    })
  }

  for (const spoil of ['nothing', 'reload', 'probe'] as const) {
    test(`[TGT-17] a disk that is full from any write on never shows a mixture, when ${spoil} fails besides`, async () => {
      const count = await countOperations()
      for (let at = 1; at <= count; at += 1) {
        const host = await hostWithOldFiles()
        const before = host.stand()
        host.reloadFails = spoil === 'reload'
        host.probeFails = spoil === 'probe'
        const start = host.disk.operations
        host.disk.trouble = (operation, isWrite) =>
          isWrite && operation - start >= at ? 'full' : undefined
        await host.pass().catch(() => undefined)
        const whole = [before, host.whole('02')]
        const stands = host.stand()
        assert.ok(
          whole.some((set) => isEqual(set, stands)),
          `full from ${at} on: ${JSON.stringify([...stands])}`,
        )
        if (spoil !== 'nothing') assert.deepEqual(stands, before, `full from ${at} on: put back`)
        host.disk.restart()
        host.reloadFails = false
        host.probeFails = false
        await assertWholeOldOrNew(host, before, `full from ${at} on`)
      }
    })
  }
})

function isEqual(one: Map<string, string>, other: Map<string, string>): boolean {
  return JSON.stringify([...one]) === JSON.stringify([...other])
}
