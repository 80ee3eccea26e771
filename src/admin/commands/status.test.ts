import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { Output } from '../terminal/output.ts'
import type { CommandContext } from './command-context.ts'
import { runCommandLine } from './program.ts'

const CERTIFICATES = { valid: 1, atrasado: 1, expired: 0 }
const STATUS = {
  version: '0.5.0',
  hub: { ready: true, subsystems: [], remarks: [] },
  agentes: { registered: 1, atrasado: 1, revoked: 0 },
  certificados: { identity: CERTIFICATES, delivery: CERTIFICATES },
  entregas: {},
  survival: null,
  mudanca: null,
  rollouts: [],
  freeze: null,
}
const ON_TIME = {
  seconds: 3600,
  first: {
    agente_id: '00000000-0000-4000-8000-000000000001',
    hostname: 'web-1.example.org',
    purpose: 'delivery',
    nome: 'site',
    not_after: '2026-11-22T10:00:00.000Z',
  },
  losing: [],
}

async function show(status: object): Promise<string> {
  let text = ''
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString()
      done()
    },
  })
  const context = {
    output: new Output(stream),
    progress: { show: () => undefined, clear: () => undefined },
    useOptions: () => undefined,
    withAdmin: async (work: (session: object) => Promise<unknown>) =>
      work({ operations: { showStatus: async () => status } }),
  }
  await runCommandLine(['status'], context as unknown as CommandContext)
  return text
}

describe('svc status', () => {
  test('[MET-24] says how long the hosts survive that are not late, while others are', async () => {
    assert.match(
      await show({ ...STATUS, survival_on_time: ON_TIME }),
      /^survives without late {2}1h, then web-1\.example\.org \(delivery site, until 2026-11-22T10:00:00\.000Z\)$/m,
    )
    assert.match(
      await show({ ...STATUS, survival_on_time: null }),
      /^survives without late {2}for ever: no other host has a certificate$/m,
    )
  })

  test('[MET-24] has no such line when no host is late, or from a hub that does not say it', async () => {
    const agentes = { registered: 2, atrasado: 0, revoked: 0 }
    const without = [STATUS, { ...STATUS, agentes, survival_on_time: ON_TIME }]
    for (const status of without) assert.doesNotMatch(await show(status), /without late/)
  })
})
