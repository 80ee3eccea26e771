// What the hub is told once: trust roots, receivers of the log; and what it still has to do: revocations, certificates that end.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { type EnrolledHost, enrollHost } from '../support/enrolled-host.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle, THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

describe('what the hub is told', WITH_BROWSER, () => {
  let opened: OpenConsole
  let receiver: Server
  let host: EnrolledHost
  let status = 204
  before(async () => {
    receiver = createServer((request, reply) => {
      request.resume()
      reply.writeHead(status).end()
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    opened = await openConsole()
    host = await enrollHost(opened.hub, 'web-1.example.org')
  })
  after(async () => {
    receiver.closeAllConnections()
    receiver.close()
    await opened[Symbol.asyncDispose]()
  })

  test('a webhook is made, its secret shown once, tested, replayed and removed', async () => {
    const url = `http://localhost:${(receiver.address() as AddressInfo).port}/<b>in</b>`
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/webhooks')
    await page.getByRole('button', { name: 'New webhook' }).click()
    const dialog = page.getByRole('dialog', { name: 'New webhook' })
    await dialog.getByLabel(/^Form/).selectOption('mail')
    await dialog.getByLabel('Password').waitFor()
    await checkAccessibility(page)
    await dialog.getByLabel(/^Form/).selectOption('json')
    await dialog.getByLabel(/^URL/).fill('ftp://nowhere')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('url_invalid').waitFor()
    await dialog.getByLabel(/^URL/).fill(url)
    await dialog.getByLabel('Types of entries').fill('politica_sett')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog
      .getByText('No entry of the type politica_sett is known. Did you mean politica_set?')
      .waitFor()
    await checkAccessibility(page)
    await dialog.getByLabel('Types of entries').fill('politica_set')
    await dialog.getByRole('button', { name: 'Create' }).click()
    const shown = page.getByRole('dialog', { name: 'The webhook is made' })
    await shown.getByText(/^whsec_/).waitFor()
    await checkAccessibility(page)
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('link', { name: '/%3Cb%3Ein%3C/b%3E' }).click()
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('The receiver took the test message').waitFor()
    status = 500
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('The receiver did not take the test message').waitFor()
    status = 204
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByLabel('Which messages').selectOption('seq')
    await page.getByRole('textbox', { name: 'From an entry on' }).fill('1')
    await page.getByText('webhook_replayed').waitFor()
    await checkAccessibility(page)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.doesNotMatch((await page.textContent('body')) ?? '', /whsec_/)
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('The hub posts new entries').waitFor()
    const { webhooks } = await opened.hub.admin<AdminReplies['listWebhooks']>(
      'GET',
      '/v1/admin/webhooks',
    )
    assert.deepEqual(webhooks, [])
    person.assertBlameless()
  })

  test('[CLI-60] a webhook may wait for a type that agents will send later, when somebody says so', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/webhooks')
    await page.getByRole('button', { name: 'New webhook' }).click()
    const dialog = page.getByRole('dialog', { name: 'New webhook' })
    await dialog.getByLabel(/^URL/).fill('http://localhost:9/later')
    await dialog.getByLabel('Types of entries').fill('door_opened')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('No entry of the type door_opened is known.').waitFor()
    await dialog.getByLabel('Agents will send it later').check()
    await dialog.getByRole('button', { name: 'Create' }).click()
    const shown = page.getByRole('dialog', { name: 'The webhook is made' })
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    const { webhooks } = await opened.hub.admin<AdminReplies['listWebhooks']>(
      'GET',
      '/v1/admin/webhooks',
    )
    assert.deepEqual(
      webhooks.map(({ tipos }) => tipos),
      [['door_opened']],
    )
    person.assertBlameless()
  })

  test('the roots say what still needs the old one, and are read again after a rehearsal', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/roots')
    await page.getByRole('heading', { name: 'What still needs the old root?' }).waitFor()
    await page.getByText('There is no old root').waitFor()
    await page.getByText('1 of 1 host has not said').waitFor()
    await page.getByRole('link', { name: 'web-1.example.org' }).waitFor()
    await page.getByRole('button', { name: 'Read the root file again' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The hub would record nothing').waitFor()
    await checkAccessibility(page)
    await dialog.getByRole('button', { name: 'Put in force' }).click()
    await dialog.waitFor({ state: 'detached' })
    person.assertBlameless()
  })

  test('[TRU-18] of the hosts that still need a root only so many are answered', async () => {
    const ask = (most: number) =>
      opened.hub.admin<AdminReplies['showBundle']>('GET', `/v1/admin/bundle?pendentes_max=${most}`)
    const none = await ask(0)
    assert.deepEqual([none.pendentes, none.pendentes_total], [[], 1])
    const [pending] = (await ask(5)).pendentes
    assert.equal(pending?.hostname, 'web-1.example.org')
  })

  test('certificates are listed, and filtered by the address', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto(`/console/certificates?agente=${host.agentId}&state=fresh`)
    await page.getByRole('link', { name: 'web-1.example.org' }).waitFor()
    await page.getByLabel('State').selectOption('expired')
    await page.getByText('Nothing matches').waitFor()
    assert.match(page.url(), /state=expired/)
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds no fault, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.signIn('admin', theme)
      for (const path of ['/webhooks', '/roots', '/revocations', '/certificates']) {
        await person.page.goto(`/console${path}`)
        await settle(person.page)
        await checkAccessibility(person.page)
      }
      person.assertBlameless()
    })
  }

  test('every screen has its words in both languages', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.evaluate<undefined>(`localStorage.setItem('cartorio.language', 'pt-BR'); undefined`)
    for (const [path, title] of [
      ['/policies', 'Políticas'],
      ['/enrolment', 'Inscrição'],
      ['/access', 'Acesso'],
      ['/roots', 'Raízes de confiança'],
      ['/revocations', 'Revogações na CA'],
      ['/webhooks', 'Webhooks'],
      ['/certificates', 'Certificados'],
    ] as const) {
      await page.goto(`/console${path}`)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
    }
    person.assertBlameless()
  })
})
