// Who gets what by labels and selectors: said in the console, with what it would mean before it holds; with a real hub.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { createDelivery } from '../support/deliveries.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle, THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

describe('selectors', WITH_BROWSER, () => {
  let opened: OpenConsole
  let cargaId: string
  before(async () => {
    opened = await openConsole()
    for (const name of ['web-1', 'web-2', 'web-3']) {
      const env = name === 'web-3' ? 'stage' : 'prod'
      await enrollHost(opened.hub, `${name}.example.org`, { labels: { env } })
    }
    ;({ cargaId } = await createDelivery(opened.hub, 'web-1.example.org', 'site', []))
  })
  after(() => opened[Symbol.asyncDispose]())

  const show = (): Promise<AdminReplies['showCargo']> =>
    opened.hub.admin('POST', '/v1/admin/cargas/show', { carga: cargaId })
  const openForm = async (page: Page): Promise<Locator> => {
    await page.goto(`/console/cargo/${cargaId}`)
    await page.getByRole('button', { name: 'Who gets it…' }).click()
    return page.getByRole('dialog', { name: 'Who gets site' })
  }

  test('[LBL-22] a carga gets a selector, and who matches is shown before', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    const dialog = await openForm(page)
    const button = dialog.getByRole('button', { name: 'Set', exact: true })
    assert.equal(await button.isDisabled(), true, 'nothing was typed')
    await dialog.getByRole('textbox', { name: /^Selector/ }).fill('env in (prod')
    await dialog.getByText('selector_invalid').waitFor()
    assert.equal(await button.isDisabled(), true)
    await dialog.getByRole('textbox', { name: /^Selector/ }).fill('env=prod')
    await dialog.getByText('2 hosts match').waitFor()
    await dialog.getByText('web-2.example.org', { exact: true }).waitFor()
    await dialog.getByText('1 × carga_selected').waitFor()
    await dialog.getByText(`svc load select site --where 'env=prod'`).waitFor()
    await checkAccessibility(page)
    await button.click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: '1 host waits for it' }).waitFor()
    assert.equal((await show()).where, 'env=prod')
    person.assertBlameless()
  })

  test('a selector that somebody else set meanwhile is shown before it is replaced', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    const dialog = await openForm(page)
    await dialog.getByRole('textbox', { name: /^Selector/ }).fill('env=stage')
    await dialog.getByText('1 × carga_selected').waitFor()
    await opened.hub.admin('POST', '/v1/admin/cargas/select', {
      carga: cargaId,
      where: 'role=web',
    })
    await dialog.getByRole('button', { name: 'Set', exact: true }).click()
    const conflict = page.getByRole('dialog', { name: 'site has changed' })
    for (const cell of ['env=prod', 'role=web', 'env=stage']) {
      await conflict.getByRole('cell', { name: cell }).waitFor()
    }
    await conflict.getByText(/^.+ changed it at .*, while it was on your screen/).waitFor()
    await checkAccessibility(page)
    await conflict.getByRole('button', { name: 'Set what you want' }).click()
    await conflict.waitFor({ state: 'detached' })
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal((await show()).where, 'env=stage')
    person.assertBlameless()
  })

  test('[LBL-22] a version that came meanwhile is a conflict too, and the form goes on from what is there', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    const dialog = await openForm(page)
    await dialog.getByLabel('Who gets it').selectOption('none')
    await dialog.getByText('svc load select site --no-where').waitFor()
    await dialog.getByText('1 × carga_selected').waitFor()
    await opened.hub.admin('POST', '/v1/admin/cargas/update', {
      carga: cargaId,
      sans: ['shop.example.org'],
    })
    await dialog.getByRole('button', { name: 'Set', exact: true }).click()
    const conflict = page.getByRole('dialog', { name: 'site has changed' })
    await conflict.getByRole('button', { name: 'Start from what is there' }).click()
    assert.equal(await dialog.getByRole('textbox', { name: /^Selector/ }).inputValue(), 'env=stage')
    await dialog.getByLabel('Who gets it').selectOption('none')
    await dialog.getByText('1 × carga_selected').waitFor()
    await dialog.getByRole('button', { name: 'Set', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await show()).where, null)
    person.assertBlameless()
  })

  test('[LBL-8] a host gets labels and loses some, and those of others stay', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/hosts/web-3.example.org')
    await page.getByRole('button', { name: 'Change…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Labels of web-3.example.org' })
    const field = dialog.getByLabel('Labels')
    assert.equal(await field.inputValue(), 'env=stage')
    const button = dialog.getByRole('button', { name: 'Set', exact: true })
    assert.equal(await button.isDisabled(), true, 'nothing differs')
    await field.fill('prod')
    await dialog.getByText('prod: write key=value, each key once').waitFor()
    await field.fill('role=db')
    await dialog.getByText('label_invalid').waitFor()
    await field.fill('canary=\nrack=r7')
    await dialog.getByText('svc agent label web-3.example.org').waitFor()
    await dialog.getByText('1 × labels_changed').waitFor()
    await checkAccessibility(page)
    await opened.hub.admin('POST', '/v1/admin/agentes/label', {
      agente: 'web-3.example.org',
      set: { team: 'shop' },
    })
    await button.click()
    await dialog.waitFor({ state: 'detached' })
    const { labels } = await opened.hub.admin<AdminReplies['showAgent']>(
      'POST',
      '/v1/admin/agentes/show',
      { agente: 'web-3.example.org' },
    )
    assert.deepEqual(labels, ['canary=', 'rack=r7', 'team=shop'])
    person.assertBlameless()
  })

  test('a revoked host is removed by an admin alone', async () => {
    await enrollHost(opened.hub, 'old-1.example.org')
    await opened.hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'old-1.example.org' })
    const path = '/console/hosts/old-1.example.org'
    await using operator = await opened.signIn('operator')
    await operator.page.goto(path)
    await settle(operator.page)
    assert.equal(await operator.page.getByRole('button', { name: 'Remove host…' }).count(), 0)
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto(path)
    await page.getByRole('button', { name: 'Remove host…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove old-1.example.org' })
    await dialog.getByText('1 × agent_removed').waitFor()
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Hosts' }).waitFor()
    const { agentes } = await opened.hub.admin<AdminReplies['listAgents']>(
      'GET',
      '/v1/admin/agentes',
    )
    assert.equal(agentes.length, 3)
    person.assertBlameless()
    operator.assertBlameless()
  })

  test('a viewer has none of these forms', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    for (const path of [`/cargo/${cargaId}?select=1`, '/hosts/web-3.example.org?labels=1']) {
      await page.goto(`/console${path}`)
      await settle(page)
      assert.equal(await page.getByRole('dialog').count(), 0, path)
      assert.equal(await page.getByRole('button', { name: /…$/u }).count(), 0, path)
    }
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds no fault in the forms, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.signIn('operator', theme)
      const { page } = person
      for (const path of [`/cargo/${cargaId}?select=1`, '/hosts/web-3.example.org?labels=1']) {
        await page.goto(`/console${path}`)
        await page.getByRole('dialog').waitFor()
        await settle(page)
        await checkAccessibility(page)
      }
      person.assertBlameless()
    })
  }
})
