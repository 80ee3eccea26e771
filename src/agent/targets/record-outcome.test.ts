import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { FakeTargetDisk } from '../../../test/fakes/target-disk.ts'
import { openAppliedStore } from './applied-store.ts'
import { type ChangeIdentity, recordApplied, recordReverted } from './record-outcome.ts'

function changeOf(target: string, nome: string, serial: string): ChangeIdentity {
  return {
    target,
    source: `/targets.d/${target}.toml`,
    source_sha256: 'aa',
    nome,
    serial,
    delivery_id: 'a2a2a2a2-0000-4000-8000-000000000001',
    request_id: randomUUID(),
  }
}

test('[TGT-22] what another target of the delivery could not do is told again after a success, which clears it', async () => {
  const disk = new FakeTargetDisk()
  disk.putDirectory('/state')
  const clock = { now: () => new Date(0), sleep: () => Promise.resolve() }
  const applied = await openAppliedStore('/state', disk)
  const context = { applied, clock, newRequestId: randomUUID }
  const fault = { step: 'reload', reason: 'exit status 1' } as const
  await recordReverted(context, changeOf('same', 'site', '02'), fault)
  await recordReverted(context, changeOf('other-delivery', 'mail', '02'), fault)
  await recordReverted(context, changeOf('older-pair', 'site', '01'), fault)
  await recordReverted(context, changeOf('itself', 'site', '02'), fault)
  const toldBefore = applied.listReports().length
  const report = { isProbed: false, drift: [] }
  await recordApplied(context, changeOf('itself', 'site', '02'), [], report)
  assert.deepEqual(
    applied
      .listReports()
      .slice(toldBefore)
      .map(({ tipo_evento: type, payload }) => [type, payload]),
    [
      [
        'alvo_aplicado',
        { nome: 'site', alvo: 'itself.toml', serial: '02', files: [], probe: null },
      ],
      ['alvo_revertido', { nome: 'site', alvo: 'same.toml', serial: '02', ...fault }],
    ],
  )
  assert.equal(new Set(applied.listReports().map(({ request_id: id }) => id)).size, toldBefore + 2)
  assert.equal(applied.find('itself')?.failure, null)
})

test('[TGT-22] a failure is the same again although the staged file that it names is called otherwise', async () => {
  const disk = new FakeTargetDisk()
  disk.putDirectory('/state')
  const clock = { now: () => new Date(0), sleep: () => Promise.resolve() }
  const applied = await openAppliedStore('/state', disk)
  const context = { applied, clock, newRequestId: randomUUID }
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const change = changeOf('full', 'site', '02')
    const reason = `ENOSPC: no space left on device, open '/tls/.svc-target-${change.request_id}-0.new'`
    await recordReverted(context, change, { step: 'stage', reason })
  }
  assert.deepEqual(
    applied.listReports().map(({ payload }) => payload),
    [
      {
        nome: 'site',
        alvo: 'full.toml',
        serial: '02',
        step: 'stage',
        reason: "ENOSPC: no space left on device, open '/tls/.svc-target-…-0.new'",
      },
    ],
  )
})
