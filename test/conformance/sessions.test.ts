// Sessions on a real hub, from the link of svc on: docs/protocol.md SES. What ends and refuses them is in src/hub/admin-doors.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adminTargetOf, svcJson } from '../support/admin-target.ts'
import { askAs, askToSignIn, headersOf, SESSIONS, signIn } from '../support/console-page.ts'
import { HUB_NAME, WITH_ADMIN_PORT } from '../support/hub.ts'
import { useHub } from '../support/use-hub.ts'
import type { Target } from '../support/wire-client.ts'

const { ca, hub } = useHub(undefined, WITH_ADMIN_PORT)

const target = (): Promise<Target> => adminTargetOf({ ca, hub })

test('[SES-9] [SES-16] [SES-17] a link of svc signs in, a restart signs nobody out, and svc ends it', async () => {
  const made = await svcJson(hub, 'console link --name on-call --role operator --ttl 8h')
  const link = new URL(String(made['link']))
  assert.deepEqual(
    [link.protocol, link.hostname, link.port, link.pathname],
    ['https:', HUB_NAME, String((await target()).port), '/console/sign-in'],
  )
  const code = link.hash.replace('#code=', '')
  for (const _night of [1, 2]) {
    const unnamed = await svcJson(hub, 'console link --role viewer')
    assert.match(String(unnamed['name']), /^link-[0-9a-f]{8}$/)
  }
  const page = await signIn(await target(), code)
  assert.equal((await askToSignIn(await target(), code)).json['error'], 'sign_in_code_used')
  await hub.stop()
  await hub.start()
  const shown = await askAs(await target(), headersOf(page))
  assert.deepEqual([shown.status, shown.json['id']], [200, page.id])
  const { sessions } = await svcJson(hub, 'admin session list')
  assert.deepEqual(sessions, [shown.json])
  await svcJson(hub, `admin session end ${page.id}`)
  const ended = await askAs(await target(), headersOf(page), SESSIONS)
  assert.deepEqual([ended.status, ended.json['error']], [401, 'session_ended'])
  for (const secret of [code, page.secret, page.cookie.split('=')[1] ?? '']) {
    assert.ok(secret.length > 40 && !hub.logText().includes(secret))
  }
})
