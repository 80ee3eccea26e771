// Hub and svc have the pages of the console in themselves.

import assert from 'node:assert/strict'
import { request } from 'node:https'
import { test } from 'node:test'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { placeBuiltConsole } from '../support/built-console.ts'
import { startDevCa } from '../support/dev-ca.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { WITH_ADMIN_PORT } from '../support/hub.ts'
import { isBuiltTested } from '../support/processes.ts'
import { serveBySvc } from '../support/serve-by-svc.ts'

interface Page {
  readonly status: number | undefined
  readonly policy: string | undefined
  readonly text: string
}

test('[LOC-1] the hub serves the console, and svc does', async () => {
  // What is built has nothing beside it.
  if (!isBuiltTested()) await placeBuiltConsole()
  await using ca = await startDevCa()
  await using hub = await startHubProcess({
    caEnvironment: ca.environment,
    environment: { ...WITH_ADMIN_PORT, SVC_SERVER_CN: 'localhost' },
  })
  const ofHub = await getPage(`https://localhost:${hub.ports.admin}/console/`)
  assert.equal(ofHub.status, 200)
  assert.match(ofHub.policy ?? '', /default-src 'none'/)

  const made = await hub.admin<AdminReplies['createAccessToken']>(
    'POST',
    '/v1/admin/admin-tokens',
    {
      name: 'laptop',
      role: 'viewer',
      ttl_seconds: 3600,
    },
  )
  await using svc = await serveBySvc(hub, made.token)
  const answer = await fetch(`${svc.origin}/console/`)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-security-policy'), ofHub.policy)
  assert.equal(await answer.text(), ofHub.text, 'the same page')
})

function getPage(url: string): Promise<Page> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { rejectUnauthorized: false }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += String(chunk)))
      response.once('end', () => {
        const policy = response.headers['content-security-policy']
        resolve({ status: response.statusCode, policy: String(policy), text })
      })
    })
    asked.once('error', reject)
    asked.end()
  })
}
