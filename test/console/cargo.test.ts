// What is delivered to whom: made, changed by two at once, removed; in Chromium, with a real hub.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { createDelivery } from '../support/deliveries.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { HEIGHT_PX, settle, THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

describe('cargo', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
    for (const name of ['web-1', 'web-2']) {
      await enrollHost(opened.hub, `${name}.example.org`, { labels: { env: 'prod' } })
    }
    await enrollHost(opened.hub, 'db-1.example.org', { role: 'db' })
  })
  after(() => opened[Symbol.asyncDispose]())

  const show = (carga: string): Promise<AdminReplies['showCargo']> =>
    opened.hub.admin('POST', '/v1/admin/cargas/show', { carga })
  const create = async (nome: string, sans: readonly string[] = []): Promise<string> =>
    (await createDelivery(opened.hub, 'web-1.example.org', nome, sans)).cargaId
  const openType = async (page: Page, type: string): Promise<void> => {
    await page.goto('/console/cargo?create=1')
    await page.getByRole('dialog').locator('select').first().selectOption(type)
  }

  test('there is none yet, and the page says how there is', async () => {
    await using person = await opened.signIn('viewer')
    await person.page.goto('/console/cargo')
    await person.page.getByText('Nothing here yet').waitFor()
    await person.page.locator('.notice').getByText('svc load create --type csr_cert').waitFor()
    person.assertBlameless()
  })

  test('who gets it is shown before it is made', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/cargo')
    await page.getByRole('button', { name: 'New cargo…' }).click()
    const dialog = page.getByRole('dialog', { name: 'New cargo' })
    const button = dialog.getByRole('button', { name: 'Deliver' })
    await dialog.getByLabel('Name', { exact: false }).first().fill('shop')
    assert.equal(await button.isDisabled(), true, 'nobody was named')
    await dialog.getByLabel('Who gets it').selectOption('where')
    await dialog.locator('textarea').first().fill('env=prod')
    await dialog.getByText('2 hosts get it now').waitFor()
    await dialog.getByText('web-1.example.org', { exact: true }).waitFor()
    await dialog.getByText(`--where 'env=prod'`, { exact: false }).waitFor()
    await checkAccessibility(page)
    await button.click()
    await page.getByRole('heading', { level: 2, name: 'shop' }).waitFor()
    const made = await show('shop')
    assert.equal(made.entregas, 2)
    assert.equal(made.statuses.pendente, 2)
    assert.equal(new URL(page.url()).pathname, `/console/cargo/${made.id}`)
    await page.getByText('Every host that matches has it.').waitFor()
    person.assertBlameless()
  })

  test('a host that does not exist is refused in the words of the hub', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await openType(page, 'csr_cert')
    const dialog = page.getByRole('dialog', { name: 'New cargo' })
    await dialog.getByLabel('Name', { exact: false }).first().fill('none')
    await dialog.locator('textarea').first().fill('nobody.example.org')
    await dialog.getByText('agent_not_found').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Deliver' }).isDisabled(), true)
    person.assertBlameless()
  })

  test('a line with a space names no host, and asks the hub nothing', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await openType(page, 'csr_cert')
    const dialog = page.getByRole('dialog', { name: 'New cargo' })
    await dialog.getByLabel('Name', { exact: false }).first().fill('spaced')
    await dialog.locator('textarea').first().fill('web-1.example.org web-2.example.org')
    await dialog
      .getByText('web-1.example.org web-2.example.org is not one name: write one a line.')
      .waitFor()
    await dialog.locator('textarea').first().fill('web-1.example.org\nweb-2.example.org')
    await dialog.getByText('2 hosts get it now').waitFor()
    person.assertBlameless()
  })

  test('a refusal with a very long name wraps, and its buttons are there', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await openType(page, 'csr_cert')
    const dialog = page.getByRole('dialog', { name: 'New cargo' })
    await dialog.getByLabel('Name', { exact: false }).first().fill('n'.repeat(500))
    await dialog.locator('textarea').first().fill('web-1.example.org')
    await dialog.locator('.notice').waitFor()
    const { over, widthOver } = await dialog.evaluate((element) => {
      const cut = [...element.querySelectorAll('*')].filter(
        (one) =>
          one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1 && one.tagName !== 'INPUT',
      )
      return {
        over: cut.map(({ className, tagName }) => `${tagName}.${String(className)}`),
        widthOver: element.scrollWidth - element.clientWidth,
      }
    })
    assert.equal(widthOver, 0, 'nothing goes sideways')
    assert.deepEqual(over, [])
    const cancel = await dialog.getByRole('button', { name: 'Cancel' }).boundingBox()
    assert.ok(cancel !== null && cancel.y + cancel.height <= HEIGHT_PX, JSON.stringify(cancel))
    person.assertBlameless()
  })

  test('a secret is not asked for by a page of the hub', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await openType(page, 'selado')
    const dialog = page.getByRole('dialog', { name: 'New cargo' })
    await dialog.getByText('svc load create --type sealed', { exact: false }).waitFor()
    assert.equal(await dialog.locator('input, textarea').count(), 0)
    await checkAccessibility(page)
    await dialog.getByRole('link', { name: 'Sealing in the browser' }).click()
    await page.getByRole('heading', { level: 1, name: 'Seal a file' }).waitFor()
    person.assertBlameless()
  })

  test('a file over the limit is refused before it is sent, and a small one is pushed', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(new URL(request.url()).pathname)
    })
    await openType(page, 'push')
    const dialog = page.getByRole('dialog', { name: 'New cargo' })
    await dialog.getByLabel('Host', { exact: true }).fill('db-1.example.org')
    const choose = (buffer: Buffer): Promise<void> =>
      dialog.locator('input[type=file]').setInputFiles({
        name: 'motd',
        mimeType: 'text/plain',
        buffer,
      })
    await choose(Buffer.alloc(16 * 1024 + 1, 'x'))
    await dialog.getByRole('alert').filter({ hasText: '16,385 bytes' }).waitFor()
    await choose(Buffer.from([0xff, 0xfe]))
    await dialog.getByRole('alert').filter({ hasText: 'no UTF-8 text' }).waitFor()
    assert.deepEqual(
      sent.filter((path) => path.startsWith('/v1/push')),
      [],
    )
    await choose(Buffer.from('hello\n'))
    await dialog.getByText('1 host is told').waitFor()
    await dialog.getByRole('button', { name: 'Deliver' }).click()
    await page.getByRole('dialog', { name: 'db-1.example.org/motd' }).waitFor()
    person.assertBlameless()
  })

  test('two who change one carga: the second sees what is there now, and by whom', async () => {
    const id = await create('both', ['one.example.org'])
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto(`/console/cargo/${id}?update=1`)
    const dialog = page.getByRole('dialog', { name: 'New version of both' })
    const names = dialog.locator('textarea')
    await names.fill('mine.example.org')
    await dialog.getByText('1 × carga_updated').waitFor()
    await opened.hub.admin('POST', '/v1/admin/cargas/update', {
      carga: id,
      sans: ['theirs.example.org'],
    })
    await dialog.getByRole('button', { name: 'Make it' }).click()
    await dialog.getByText('versao_changed').waitFor()
    await dialog.getByRole('button', { name: 'Compare…' }).click()
    const conflict = page.getByRole('dialog', { name: 'both has changed' })
    for (const name of ['one', 'theirs', 'mine']) {
      await conflict.getByText(`${name}.example.org`).first().waitFor()
    }
    await conflict.getByText('changed it at', { exact: false }).waitFor()
    await checkAccessibility(page)
    assert.deepEqual((await show(id)).sans, ['theirs.example.org'], 'nothing was overwritten')
    await conflict.getByRole('button', { name: 'Set what you want' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const { sans, versao } = await show(id)
    assert.deepEqual([sans, versao], [['mine.example.org'], 3])
    person.assertBlameless()
  })

  test('who asked only for a version keeps the names that somebody else set meanwhile', async () => {
    const id = await create('apart', ['one.example.org'])
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto(`/console/cargo/${id}?update=1`)
    const dialog = page.getByRole('dialog', { name: 'New version of apart' })
    await dialog.getByText('1 × carga_updated').waitFor()
    await opened.hub.admin('POST', '/v1/admin/cargas/update', {
      carga: id,
      sans: ['theirs.example.org'],
    })
    await dialog.getByRole('button', { name: 'Make it' }).click()
    await dialog.getByRole('button', { name: 'Compare…' }).click()
    const conflict = page.getByRole('dialog', { name: 'apart has changed' })
    await conflict.getByRole('cell', { name: 'theirs.example.org' }).nth(1).waitFor()
    assert.equal(await conflict.getByText('both of you changed it').count(), 0)
    await conflict.getByRole('button', { name: 'Set what you want' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const { sans, versao } = await show(id)
    assert.deepEqual([sans, versao], [['theirs.example.org'], 3])
    person.assertBlameless()
  })

  test('a version in waves is planned, and leads to its rollout', async () => {
    const id = await create('waved')
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto(`/console/cargo/${id}`)
    await page.getByRole('button', { name: 'New version…' }).click()
    const dialog = page.getByRole('dialog', { name: 'New version of waved' })
    await dialog.getByLabel('In waves, a few hosts first').check()
    await dialog.getByLabel('Sizes', { exact: false }).fill('50%, 100%')
    await dialog.getByText('100%: 1 host').waitFor()
    await dialog.getByText('1 × rollout_started').waitFor()
    await dialog.getByRole('button', { name: 'Start the rollout' }).click()
    await page.getByRole('heading', { level: 2, name: 'Waves' }).waitFor()
    assert.match(page.url(), /\/console\/rollouts\/[0-9a-f]+$/)
    person.assertBlameless()
  })

  test('hosts that no longer match are shown, and cut off after it was said', async () => {
    await enrollHost(opened.hub, 'old-1.example.org', { labels: { tier: 'old' } })
    await opened.hub.admin('POST', '/v1/admin/cargas', {
      tipo: 'csr_cert',
      nome: 'pruned',
      agentes: [],
      roles: [],
      sans: [],
      where: 'tier=old',
    })
    const { id } = await show('pruned')
    await opened.hub.admin('POST', '/v1/admin/cargas/select', { carga: id, where: 'tier=new' })
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto(`/console/cargo/${id}`)
    await page.getByText('1 host has it without matching').waitFor()
    await page.getByRole('button', { name: 'Cancel for those that do not match…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel pruned for hosts' })
    await dialog.getByText('1 × entrega_cancelled').waitFor()
    await dialog.getByRole('button', { name: 'Cancel their deliveries' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('No host has it.').first().waitFor()
    assert.equal((await show(id)).entregas, 0)
    person.assertBlameless()
  })

  test('it is removed once its name is typed', async () => {
    const id = await create('gone')
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto(`/console/cargo/${id}`)
    await page.getByRole('button', { name: 'Remove…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove gone' })
    const button = dialog.getByRole('button', { name: 'Remove' })
    await dialog.getByText('1 × carga_removed').waitFor()
    assert.equal(await button.isDisabled(), true)
    await dialog.getByLabel('Type gone to go on').fill('gone')
    await checkAccessibility(page)
    await button.click()
    await page.getByRole('heading', { level: 1, name: 'Cargo' }).waitFor()
    await assert.rejects(show(id), /cargo_not_found|not found|404/u)
    person.assertBlameless()
  })

  test('a viewer sees all of it, and no action; by hand it is refused', async () => {
    const id = await create('seen')
    await using person = await opened.signIn('viewer')
    const { page } = person
    const acts = page.getByRole('button', { name: /new|remove|cancel|deliver|version/iu })
    for (const path of [
      '/console/cargo',
      '/console/cargo?create=1',
      `/console/cargo/${id}?update=1`,
    ]) {
      await page.goto(path)
      await settle(page)
      assert.equal(await acts.count(), 0, path)
      assert.equal(await page.getByRole('dialog').count(), 0, path)
    }
    await page.getByText('web-1.example.org').first().waitFor()
    const status = await page.evaluate<number>(
      `fetch('/v1/admin/cargas/remove', { method: 'POST', body: '{"carga":"seen"}', headers: {
        'content-type': 'application/json', 'cartorio-session': localStorage.getItem('cartorio.session')
      } }).then(({ status }) => status)`,
    )
    assert.equal(status, 403)
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds no fault, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.signIn('operator', theme)
      const { page } = person
      await page.goto('/console/cargo')
      await page.locator('a.whole-row').first().waitFor()
      await settle(page)
      await checkAccessibility(page)
      await page.locator('a.whole-row').first().click()
      await page.getByRole('heading', { level: 2, name: 'Hosts', exact: true }).waitFor()
      await settle(page)
      await checkAccessibility(page)
      person.assertBlameless()
    })
  }
})
