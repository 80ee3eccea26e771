import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { REACHING_CONTEXT } from '../../../../test/support/reaching-context.ts'
import { Output } from '../../terminal/output.ts'
import { printSealed } from './print-sealed.ts'

test('[SEA-11] the list shows for whom it was sealed, whatever the hub says of its entregas', async () => {
  const stream = new PassThrough()
  const context = { ...REACHING_CONTEXT, output: new Output(stream) }
  const destinatarios = ['web-1', 'web-2'].map((hostname) => ({
    agente_id: `id-of-${hostname}`,
    hostname,
    fingerprint: `SHA256:of-${hostname}`,
  }))
  const entregas = [{ id: 'entrega-1', agente_id: 'id-of-web-1', hostname: 'web-9' }]
  const reply = { carga_id: 'carga-1', entregas, destinatarios, escrow: [] }
  await printSealed(context, { reply, notKept: undefined }, { news: 'carga carga-1 created' })
  assert.equal(
    String(stream.read()),
    `carga carga-1 created, sealed for 2 agents

HOSTNAME  DELIVERY_ID  RECIPIENT
web-1     entrega-1    SHA256:of-web-1
web-2     -            SHA256:of-web-2
`,
  )
})
