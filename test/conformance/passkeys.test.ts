// Passkeys on a real hub, from its setting on: docs/protocol.md PKY. What is refused of them is in src/hub/admin-passkeys.test.ts and
// src/hub/admin-confirmations.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adminTargetOf, svcJson } from '../support/admin-target.ts'
import { failToStart } from '../support/boot-here.ts'
import { PasskeyPerson, PASSKEYS } from '../support/confirming-console.ts'
import { signIn } from '../support/console-page.ts'
import { HUB_NAME, WITH_ADMIN_PORT } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'
import type { Target } from '../support/wire-client.ts'

const ORIGIN = `https://${HUB_NAME}:8445`
const { ca, hub } = useHub(undefined, {
  ...WITH_ADMIN_PORT,
  SVC_CONSOLE_CONFIRM: 'passkey',
  SVC_CONSOLE_URL: `${ORIGIN}/console`,
})

const target = (): Promise<Target> => adminTargetOf({ ca, hub })

test('[PKY-1] [PKY-8] [PKY-10] a passkey outlives a restart, a confirmation is good once after it too, and svc removes it', async () => {
  const link = await svcJson(hub, 'console link --name on-call --role admin --ttl 8h')
  const page = await signIn(await target(), new URL(String(link['link'])).hash.slice(6))
  const before = new PasskeyPerson(await target(), page, ORIGIN)
  const registered = await before.register('YubiKey 5')
  assert.equal(registered.status, 200, registered.text)
  const policy = { path: '/v1/admin/politicas', body: '{"role":"web","token_ttl_max":600}' }
  const confirmation = { 'cartorio-confirmation': await before.confirm(policy) }
  assert.equal((await before.send({ ...policy, headers: confirmation })).status, 200)
  await hub.stop()
  await hub.start()
  const person = new PasskeyPerson(await target(), page, ORIGIN)
  const again = await person.send({ ...policy, headers: confirmation })
  assert.deepEqual([again.status, again.json['error']], [403, 'confirmation_refused'])
  const entry = await waitUntil('the refusal is in the log', () =>
    hub.logEntries().find(({ error }) => error === 'confirmation_refused'),
  )
  assert.equal(entry['reason'], 'the confirmation was used, or is older than one that was')
  const { passkeys } = await svcJson(hub, 'admin passkey list')
  const [shown] = passkeys as { id: string; name: string; label: string }[]
  assert.deepEqual([shown?.name, shown?.label], ['on-call', 'YubiKey 5'])
  // svc is asked for no passkey.
  await svcJson(hub, 'politica set web --token-ttl-max 1h')
  const { stdout } = await hub.svc('admin', 'passkey', 'remove', 'on-call')
  assert.equal(stdout, `passkey ${shown?.id} (YubiKey 5) of on-call removed\n`)
  const { json } = await person.ask(PASSKEYS)
  assert.deepEqual([json['passkeys'], json['registration']], [[], 'open'])
})

test('[PKY-1] a hub that cannot say for which name does not start', async () => {
  const ended = await failToStart({ ...hub.environment, SVC_CONSOLE_URL: 'https://192.0.2.7:8445' })
  assert.equal(ended.status, 1)
  assert.ok(
    ended.stderr
      .split('\n')
      .includes(
        'svc-server: error: SVC_CONSOLE_URL: no browser makes a passkey for 192.0.2.7: it takes a name',
      ),
    ended.stderr,
  )
})
