import assert from 'node:assert/strict'
import { chmod, chown, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeOwnDirectory, WITH_OWN_PLACE } from '../../../test/support/own-place.ts'
import { nodeTargetFiles } from './target-files.ts'
import { openAppliedStore } from './applied-store.ts'
import { prepareTargetsState, tryLockTargets } from './targets-state.ts'

const ownUid = process.getuid?.() ?? 0
const needsRoot = ownUid === 0 ? false : 'only root can make files of other users'

async function withParent(work: (parent: string) => Promise<void>): Promise<void> {
  const parent = await makeOwnDirectory('svc-agent-state-')
  try {
    await work(parent)
  } finally {
    await rm(parent, { recursive: true })
  }
}

describe('the state of targets', WITH_OWN_PLACE, () => {
  test('[TGT-24] is nobody else’s, also when it was open', () =>
    withParent(async (parent) => {
      const directory = join(parent, 'state')
      await prepareTargetsState(directory, ownUid)
      await chmod(directory, 0o755)
      await prepareTargetsState(directory, ownUid)
      const { uid, mode } = await stat(directory)
      assert.deepEqual([uid, mode & 0o777], [ownUid, 0o700])
    }))

  test('[TGT-24] is refused where others could replace it', () =>
    withParent(async (parent) => {
      const open = join(parent, 'open')
      await mkdir(open)
      await chmod(open, 0o1777)
      await mkdir(join(parent, 'real'))
      await symlink(join(parent, 'real'), join(parent, 'link'))
      await writeFile(join(parent, 'file'), '')
      const cases: [string, RegExp][] = [
        [join(open, 'state'), /open is writable by group or others/],
        [join(parent, 'missing', 'state'), /missing does not exist/],
        [join(parent, 'link'), /it is not a directory/],
        [join(parent, 'link', 'state'), /link is a symbolic link/],
        [join(parent, 'file'), /it is not a directory/],
      ]
      for (const [directory, message] of cases) {
        await assert.rejects(prepareTargetsState(directory, ownUid), { message })
      }
    }))

  test('[TGT-24] is refused when it is somebody else’s', { skip: needsRoot }, () =>
    withParent(async (parent) => {
      const directory = join(parent, 'state')
      await mkdir(directory)
      await chown(directory, 4242, 4242)
      await assert.rejects(prepareTargetsState(directory, 0), {
        message: /it belongs to user 4242/,
      })
    }),
  )

  test('[TGT-24] is worked in by one at a time', () =>
    withParent(async (parent) => {
      const lock = tryLockTargets(parent)
      assert.notEqual(lock, undefined)
      assert.equal(tryLockTargets(parent), undefined)
      lock?.release()
      tryLockTargets(parent)?.release()
    }))

  test('[TGT-24] a damaged applied.json is named and left alone', () =>
    withParent(async (parent) => {
      for (const text of ['{', '{"format":2}', '{"format":1,"targets":{"a":{}},"reports":[]}']) {
        await writeFile(join(parent, 'applied.json'), text)
        await assert.rejects(openAppliedStore(parent, nodeTargetFiles), {
          name: 'UserError',
          code: 'applied_damaged',
          message: /applied\.json is damaged/,
        })
      }
    }))

  test('[TGT-26] of more than 1000 reports the newest are kept', () =>
    withParent(async (parent) => {
      const store = await openAppliedStore(parent, nodeTargetFiles)
      const reportOf = (index: number) => ({
        request_id: `a2a2a2a2-0000-4000-8000-${String(index).padStart(12, '0')}`,
        entrega_id: 'a2a2a2a2-0000-4000-8000-000000000001',
        tipo_evento: 'alvo_aplicado' as const,
        payload: { nome: 'site', serial: '01', files: [], probe: null },
      })
      const reports = Array.from({ length: 1001 }, (_, index) => reportOf(index))
      const text = JSON.stringify({ format: 1, targets: {}, reports: reports.slice(0, 1000) })
      await writeFile(join(parent, 'applied.json'), text)
      const full = await openAppliedStore(parent, nodeTargetFiles)
      assert.deepEqual(store.listReports(), [])
      const record = {
        source: '/t',
        nome: 'site',
        applied: null,
        failure: null,
        last_change: { request_id: '', outcome: 'applied' as const },
      }
      await full.put('t', record, reports.slice(1000))
      await full.removeReport(reports[1]?.request_id ?? '')
      const again = await openAppliedStore(parent, nodeTargetFiles)
      assert.deepEqual(again.listReports(), reports.slice(2))
      assert.deepEqual(again.find('t'), record)
      await again.keepOnly(new Map(), () => '')
      assert.equal((await openAppliedStore(parent, nodeTargetFiles)).find('t'), undefined)
    }))
})
