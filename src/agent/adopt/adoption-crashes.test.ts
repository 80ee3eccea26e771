// The world stops before any step of taking over and of undoing: whoever comes next ends with all of it, or with nothing.

import assert from 'node:assert/strict'
import { readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Ground, RENEWS, Stopped, withGround } from '../../../test/support/adopt-ground.ts'
import { WITH_OWN_PLACE } from '../../../test/support/own-place.ts'
import type { AdoptHost } from './adopt-host.ts'
import { stopRenewer } from './stop-renewer.ts'
import { takeOver } from './take-over.ts'
import { undoAdoption } from './undo-adoption.ts'

/** Whether `work` came to its end within so many steps. */
async function isAllOf(ground: Ground, steps: number, work: () => Promise<void>): Promise<boolean> {
  ground.left = steps
  try {
    await work()
    return true
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
    return false
  } finally {
    ground.left = Number.POSITIVE_INFINITY
  }
}

async function countSteps(isOverAfter: (step: number) => Promise<boolean>): Promise<number> {
  let step = 0
  while (!(await isOverAfter(step))) step += 1
  return step
}

async function begin(ground: Ground): Promise<void> {
  const { store } = ground.hand()
  await store.begin(ground.adoption)
}

async function applyAll(ground: Ground): Promise<void> {
  const { host, store } = ground.hand()
  if ((await store.list()).length === 0) await store.begin(ground.adoption)
  for (const adoption of await store.list()) await takeOver(host, store, adoption)
}

async function undoAll(ground: Ground): Promise<void> {
  const { host, store } = ground.hand()
  for (const adoption of await store.list()) {
    assert.deepEqual(await undoAdoption(host, store, adoption), [])
  }
}

async function assertTaken(ground: Ground): Promise<void> {
  const { store } = ground.hand()
  const [adoption] = await store.list()
  assert.equal(adoption?.phase, 'adopted')
  assert.equal(await readFile(ground.path('live/site.pem'), 'utf8'), 'new')
  assert.equal(await readFile(ground.path('archive/site1.pem'), 'utf8'), 'old certificate')
  assert.equal(ground.unit, 'disabled')
  assert.deepEqual(await readdir(ground.path('renewal')), ['other.conf', 'site.conf.svc-adopted'])
  assert.equal(
    await readFile(ground.path('cron'), 'utf8'),
    `# cron\n# svc-agent adopt: ${RENEWS}\n0 0 * * * root true\n`,
  )
  assert.equal((await stat(ground.path('cron'))).mode & 0o777, 0o644)
  const leftOver = (await ground.picture()).filter((line) => /(^|\/)\.svc/.test(line))
  assert.deepEqual(leftOver, [])
}

describe('an adoption that is interrupted', WITH_OWN_PLACE, () => {
  test('[ADO-5] [ADO-7] [ADO-9] goes on from any step, and is undone from any step', async (context) => {
    const steps = await countSteps(async (step) => {
      let isOver = false
      await withGround(async (ground) => {
        const before = await ground.picture()
        isOver = await isAllOf(ground, step, () => applyAll(ground))
        if (step % 2 === 0) {
          await applyAll(ground)
          await assertTaken(ground)
        }
        await undoAll(ground)
        await sweep(ground)
        assert.deepEqual(await ground.picture(), before, `stopped before step ${step}`)
      })
      return isOver
    })
    context.diagnostic(`${steps} steps`)
    assert.ok(steps > 30)
  })

  test('[ADO-7] [ADO-8] an undo that is interrupted goes on from any step', async (context) => {
    const steps = await countSteps(async (step) => {
      let isOver = false
      await withGround(async (ground) => {
        const before = await ground.picture()
        await applyAll(ground)
        const taken = await ground.picture()
        isOver = await isAllOf(ground, step, () => undoAll(ground))
        const [left] = await ground.hand().store.list()
        const isTouched = (await ground.picture()).join() !== taken.join()
        assert.ok(!isTouched || left === undefined || left.phase === 'undoing')
        // Whichever of the two comes next, it finishes the undo first.
        if (step % 2 === 0) {
          const { host, store } = ground.hand()
          for (const adoption of await store.list()) {
            const isUndoing = adoption.phase === 'undoing'
            const result = await takeOver(host, store, adoption)
            assert.equal(result.ok, !isUndoing)
          }
        }
        await undoAll(ground)
        await sweep(ground)
        assert.deepEqual(await ground.picture(), before, `stopped before step ${step}`)
      })
      return isOver
    })
    context.diagnostic(`${steps} steps`)
    assert.ok(steps > 20)
  })

  test('[ADO-6] a new certificate that is not served is taken back, and the renewer was never touched', () =>
    withGround(async (ground) => {
      const before = await ground.picture()
      ground.isServing = false
      await begin(ground)
      const { host, store } = ground.hand()
      const touched: string[] = []
      const watched: AdoptHost = {
        ...host,
        stopUnit: async (unit) => void touched.push(unit),
        rename(from, to) {
          touched.push(to)
          return host.rename(from, to)
        },
        renameToFree(from, to) {
          touched.push(to)
          return host.renameToFree(from, to)
        },
      }
      const result = await takeOver(watched, store, ground.adoption)
      assert.deepEqual(result, { ok: false, reason: 'serves old', problems: [] })
      // Twice each: a copy in the place of the link, and all of it back.
      const [link, key] = ground.adoption.places.map(({ path }) => path)
      assert.deepEqual(touched, [link, ground.adoption.target_path, link, key])
      assert.deepEqual(await ground.picture(), before)
    }))

  test('[ADO-8] what others changed meanwhile is not lost', () =>
    withGround(async (ground) => {
      await applyAll(ground)
      await writeFile(ground.path('renewal/site.conf'), 'made again')
      const cron = await readFile(ground.path('cron'), 'utf8')
      await writeFile(ground.path('cron'), `${cron}1 1 * * * root added\n`)
      const { host, store } = ground.hand()
      const [adoption] = await store.list()
      assert.ok(adoption)
      assert.deepEqual(await undoAdoption(host, store, adoption), [
        `${ground.path('renewal/site.conf')} was made again meanwhile: ${ground.path('renewal/site.conf.svc-adopted')} is what was there before`,
      ])
      assert.equal(await readFile(ground.path('renewal/site.conf'), 'utf8'), 'made again')
      assert.equal(
        await readFile(ground.path('cron'), 'utf8'),
        `# cron\n${RENEWS}\n0 0 * * * root true\n1 1 * * * root added\n`,
      )
    }))

  test('[ADO-8] what others put in a place meanwhile is kept, and so is a target that somebody edited', () =>
    withGround(async (ground) => {
      await applyAll(ground)
      const [cert, target] = [ground.path('live/site.pem'), ground.adoption.target_path]
      for (const round of ['', '-2']) {
        await writeFile(cert, `renewed by hand${round}`)
        await writeFile(target, `name = "site" # edited${round}\n`)
        const { host, store } = ground.hand()
        const [adoption] = await store.list()
        assert.ok(adoption)
        const problems = await undoAdoption(host, store, adoption)
        const kept = ground.path(`live/.site.pem.svc-undone${round}`)
        assert.ok(
          problems.includes(`${cert} was changed by others meanwhile: that is kept as ${kept}`),
        )
        assert.equal(await readFile(kept, 'utf8'), `renewed by hand${round}`)
        const keptTarget = `${target}.svc-undone${round}`
        assert.ok(
          problems.includes(
            `${target} was changed by others meanwhile: that is kept as ${keptTarget}`,
          ),
        )
        assert.equal(await readFile(keptTarget, 'utf8'), `name = "site" # edited${round}\n`)
        assert.equal(await readlink(cert), '../archive/site1.pem')
        await applyAll(ground)
      }
    }))

  test('[ADO-8] a link that was never replaced stays as it is today', () =>
    withGround(async (ground) => {
      await begin(ground)
      await writeFile(ground.path('archive/site2.pem'), 'renewed')
      await rm(ground.path('live/site.pem'))
      await symlink('../archive/site2.pem', ground.path('live/site.pem'))
      await undoAll(ground)
      assert.equal(await readlink(ground.path('live/site.pem')), '../archive/site2.pem')
    }))

  test('[ADO-8] of two adoptions with one renewer the last that is undone starts it again', () =>
    withGround(async (ground) => {
      await applyAll(ground)
      const { host, store } = ground.hand()
      const second = { ...ground.adoption, id: 'site-apache', places: [] }
      await store.begin(second)
      await takeOver(host, store, { ...second, phase: 'stopping' })
      const [apache, nginx] = await store.list()
      assert.ok(apache && nginx)
      await undoAdoption(host, store, nginx)
      assert.equal(ground.unit, 'disabled')
      await undoAdoption(host, store, apache)
      assert.equal(ground.unit, 'enabled')
    }))

  test('[ADO-8] one that was adopted when the renewer was stopped already starts it when it is the last', () =>
    withGround(async (ground) => {
      await applyAll(ground)
      const { host, store } = ground.hand()
      const second = { ...ground.adoption, id: 'site-later', places: [] }
      await store.begin(second)
      await takeOver(host, store, { ...second, phase: 'stopping' })
      for (const id of ['site-nginx', 'site-later']) {
        const cron = await readFile(ground.path('cron'), 'utf8')
        assert.equal(cron, `# cron\n# svc-agent adopt: ${RENEWS}\n0 0 * * * root true\n`)
        const adoption = (await store.list()).find((one) => one.id === id)
        assert.ok(adoption)
        assert.deepEqual(await undoAdoption(host, store, adoption), [])
      }
      assert.equal(
        await readFile(ground.path('cron'), 'utf8'),
        `# cron\n${RENEWS}\n0 0 * * * root true\n`,
      )
      assert.deepEqual(await readdir(ground.path('renewal')), ['other.conf', 'site.conf'])
      assert.equal(ground.unit, 'enabled')
    }))

  test('[ADO-6] a step that throws is taken back too', () =>
    withGround(async (ground) => {
      const before = await ground.picture()
      await begin(ground)
      const { host, store } = ground.hand()
      const full: AdoptHost = {
        ...host,
        applyTarget: () => Promise.reject(new Error('no space left')),
      }
      const result = await takeOver(full, store, ground.adoption)
      assert.deepEqual(result, { ok: false, reason: 'no space left', problems: [] })
      assert.deepEqual(await ground.picture(), before)
    }))

  test('[ADO-5] a target that somebody else has put there meanwhile is not overwritten', () =>
    withGround(async (ground) => {
      await begin(ground)
      const { host, store } = ground.hand()
      await writeFile(ground.adoption.target_path, 'of somebody else')
      const result = await takeOver(host, store, ground.adoption)
      assert.equal(result.ok, false)
      const kept = `${ground.adoption.target_path}.svc-undone`
      assert.equal(await readFile(kept, 'utf8'), 'of somebody else')
    }))

  test('[ADO-8] an undo ends although a unit cannot be started, or a directory is gone', () =>
    withGround(async (ground) => {
      await applyAll(ground)
      await rm(ground.path('tls'), { recursive: true })
      await rm(ground.path('renewal'), { recursive: true })
      const { host, store } = ground.hand()
      const broken: AdoptHost = {
        ...host,
        startUnit: () => Promise.reject(new Error('Unit step@site.timer not found.')),
      }
      const [adoption] = await store.list()
      assert.ok(adoption)
      assert.deepEqual(await undoAdoption(broken, store, adoption), [
        `${ground.path('tls')} was gone: it is made again, for root alone`,
        `${ground.path('renewal/site.conf.svc-adopted')} is gone: nothing renews these files now`,
        'step@site.timer is not started again: Unit step@site.timer not found.',
      ])
      assert.equal(await readFile(ground.path('tls/site.key'), 'utf8'), 'old key')
      assert.deepEqual(await store.list(), [])
    }))

  test('[ADO-9] a table of cron that is no text is not written again', () =>
    withGround(async (ground) => {
      const bytes = Buffer.concat([Buffer.from([0xe9, 10]), Buffer.from(`${RENEWS}\n`)])
      await writeFile(ground.path('cron'), bytes)
      const { host } = ground.hand()
      const [, stop] = ground.adoption.stops
      assert.ok(stop)
      await assert.rejects(stopRenewer(host, ground.adoption, stop), { code: 'renewer_unreadable' })
      assert.deepEqual(await readFile(ground.path('cron')), bytes)
    }))

  test('[ADO-7] a record that is damaged is said, and left alone', () =>
    withGround(async (ground) => {
      await begin(ground)
      const path = join(ground.base, 'state/site-nginx/record.json')
      await writeFile(path, '{"format":1')
      const { store } = ground.hand()
      await assert.rejects(store.list(), { code: 'adoption_damaged' })
      assert.equal(await readFile(path, 'utf8'), '{"format":1')
    }))
})

/** What was begun and never became a record goes when the next one begins. */
async function sweep(ground: Ground): Promise<void> {
  const { host, store } = ground.hand()
  await store.begin(ground.adoption)
  for (const adoption of await store.list()) await undoAdoption(host, store, adoption)
}
