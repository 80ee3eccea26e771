import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdminStatus } from '../../protocol/admin/views.ts'
import { awaitChange } from './await-change.ts'

test('[FLT-9] while an act is under way its progress is shown, and then taken away', async () => {
  const shown: string[] = []
  const progress = {
    show: (text: string) => shown.push(text),
    clear: () => shown.push('cleared'),
  }
  let finish: (value: number) => void = () => undefined
  const change = new Promise<number>((resolve) => {
    finish = resolve
  })
  const of = { acao: 'update', nome: 'site', total: 900 } as const
  const steps = [
    { ...of, prepared: 250, settled: 0 },
    { ...of, prepared: 900, settled: 500 },
    { ...of, acao: 'retry', nome: null, prepared: 900, settled: 750 },
  ] as const
  let asked = 0
  const operations = {
    showStatus: async () => {
      const mudanca = steps[asked] ?? null
      asked += 1
      if (asked === 4) throw new Error('the hub is busy')
      if (asked === 5) finish(7)
      // What an older hub answers has no such field.
      return { mudanca } as AdminStatus
    },
  }
  const clock = { now: () => new Date(0), sleep: () => Promise.resolve() }
  assert.equal(await awaitChange({ clock, progress }, operations, change), 7)
  assert.deepEqual(shown, [
    '250 of 900 deliveries of load site prepared',
    '500 of 900 deliveries of load site written down',
    '750 of 900 deliveries written down',
    'cleared',
  ])
})
