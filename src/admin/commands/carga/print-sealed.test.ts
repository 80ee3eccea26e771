import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { systemClock } from '../../../platform/clock.ts'
import type { CommandContext } from '../command-context.ts'
import { Output } from '../../terminal/output.ts'
import { printSealed } from './print-sealed.ts'

const reached = (): Promise<never> => Promise.reject(new Error('nothing else is used'))

test('[SEA-11] the list shows for whom it was sealed, whatever the hub says of its entregas', async () => {
  const stream = new PassThrough()
  const context: CommandContext = {
    output: new Output(stream),
    clock: systemClock,
    progress: { show: () => undefined, clear: () => undefined },
    vault: {
      create: reached,
      checkPassphrase: reached,
      withBackup: reached,
      verifyBackup: reached,
      restore: reached,
      changePassphrase: reached,
      addRecoveryKey: reached,
      removeRecoveryKey: reached,
      listRecoveryKeys: reached,
      rekey: reached,
      compact: reached,
      migrate: reached,
      join: reached,
      standby: { init: reached, status: reached, promote: reached },
    },
    openSecret: reached,
    openScene: reached,
    openPins: reached,
    openConsoleDoor: reached,
    untilEnded: reached,
    openSignIn: reached,
    useOptions: () => undefined,
    note: () => undefined,
    withAdmin: reached,
  }
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
