// A viewer's documents hold no action, and by hand the hub refuses each.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ADMIN_OPERATIONS } from '../../src/protocol/admin/operations.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { settle } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

/** What only shows, copies, orders or filters. */
const PASSIVE = `.copy, [aria-pressed], th button, :text-is('As a table')`

/** Nobody changes the log: what its buttons do, they do in the browser, for an admin as for a viewer. */
const LOG = ['/audit', '/audit/1']

describe('a viewer', WITH_BROWSER, () => {
  let opened: OpenConsole
  let paths: string[]
  before(async () => {
    opened = await openConsole()
    const { hub } = opened
    const { agentId } = await enrollHost(hub, 'web-1.example.org')
    await hub.admin('POST', '/v1/admin/politicas', { role: 'web' })
    await hub.admin('POST', '/v1/admin/politicas/where', { nome: 'prod', where: 'env=prod' })
    await hub.admin('POST', '/v1/admin/tokens', { hostname: 'next.example.org', role: 'web' })
    const webhook = await hub.admin<{ id: string }>('POST', '/v1/admin/webhooks', {
      url: 'https://receiver.example/',
      tipos: [],
    })
    const rule = await hub.admin<{ id: string }>('POST', '/v1/admin/join-rules', {
      name: 'racks',
      method: 'token',
      pattern: 'rack-*.example.org',
      role: 'web',
      hosts_max: 3,
    })
    paths = [
      '/',
      '/hosts',
      `/hosts/${agentId}`,
      '/policies',
      '/policies/web',
      '/policies/none',
      '/policies/where/prod',
      '/enrolment',
      `/enrolment/rules/${rule.id}`,
      '/access',
      '/roots',
      '/revocations',
      '/webhooks',
      `/webhooks/${webhook.id}`,
      '/certificates',
      '/cargo',
      '/deliveries',
      '/rollouts',
    ]
  })
  after(() => opened[Symbol.asyncDispose]())

  test('has no button that acts on any screen', async () => {
    await using person = await opened.signIn('viewer')
    await using admin = await opened.signIn('admin')
    const found: string[] = []
    let acts = 0
    for (const path of paths) {
      for (const { page } of [person, admin]) {
        await page.goto(`/console${path}`)
        await settle(page)
      }
      const buttons = `main button:not(:is(${PASSIVE})), main form`
      for (const button of await person.page.locator(buttons).all()) {
        found.push(`${path}: ${await button.innerText()}`)
      }
      acts += await admin.page.locator(buttons).count()
    }
    assert.deepEqual(found, [])
    assert.ok(acts > 12, `an admin has ${acts} buttons: the same question finds them`)
    person.assertBlameless()
  })

  test('has the buttons of the log that everybody has', async () => {
    const seen: string[] = []
    for (const role of ['viewer', 'admin'] as const) {
      await using person = await opened.signIn(role)
      for (const path of LOG) {
        await person.page.goto(`/console${path}`)
        await settle(person.page)
        const names = await person.page.locator('main button').allInnerTexts()
        seen.push([...new Set(names.filter((name) => name !== ''))].toSorted().join())
      }
    }
    assert.equal(seen[0], seen[2])
    assert.equal(seen[1], seen[3])
  })

  test('is refused each operation of another role by hand', async () => {
    await using person = await opened.signIn('viewer')
    const half = await person.page.evaluate<string>(`localStorage.getItem('cartorio.session')`)
    const headers = { 'cartorio-session': half, 'sec-fetch-site': 'same-origin' }
    const answers: string[] = []
    for (const [name, { method, path: pattern, role }] of Object.entries(ADMIN_OPERATIONS)) {
      if (role === 'viewer') continue
      const path = pattern.replaceAll(/:\w+/g, 'x')
      const options = { method, headers, ...(method === 'POST' && { data: {} }) }
      const answer = await person.context.request.fetch(path, options)
      const { error } = (await answer.json()) as { readonly error: string }
      answers.push(`${name} ${answer.status()} ${error}`)
    }
    assert.ok(answers.length > 20)
    assert.deepEqual(
      answers.filter((answer) => !answer.endsWith(' 403 role_insufficient')),
      [],
    )
  })
})
