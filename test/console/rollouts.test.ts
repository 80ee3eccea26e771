// Rollouts and freezes: in Chromium, with a real hub, which opens the waves.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { enrollHost, type EnrolledHost, withIdentity } from '../support/enrolled-host.ts'
import { assertOk, post } from '../support/wire-client.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle, THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

const REASON = 'hook: <b>exit 1</b>'
const FROZEN_MS_MAX = 20_000

describe('rollouts', WITH_BROWSER, () => {
  let opened: OpenConsole
  let hosts: ReadonlyMap<string, EnrolledHost>
  before(async () => {
    opened = await openConsole()
    const enrolled = []
    for (const name of ['web-1', 'web-2', 'web-3']) {
      enrolled.push(await enrollHost(opened.hub, `${name}.example.org`))
    }
    hosts = new Map(enrolled.map((host) => [host.hostname, host]))
  })
  after(() => opened[Symbol.asyncDispose]())

  const show = (rollout: string): Promise<AdminReplies['showRollout']> =>
    opened.hub.admin('POST', '/v1/admin/rollouts/show', { rollout })

  /** A rollout of a carga that all three hosts have. */
  const start = async (nome: string): Promise<string> => {
    const cargo = { tipo: 'csr_cert', nome, agentes: [...hosts.keys()], roles: [], sans: [] }
    await opened.hub.admin('POST', '/v1/admin/cargas', cargo)
    const { id } = await opened.hub.admin<AdminReplies['startRollout']>(
      'POST',
      '/v1/admin/rollouts',
      { carga: nome, waves: ['1', '100%'], soak_seconds: 600, max_failed: '0' },
    )
    return id
  }

  /** The first host of the first wave says that it failed. */
  const freeze = async (nome: string, id: string): Promise<void> => {
    const deadline = Date.now() + FROZEN_MS_MAX
    for (let isTold = false; (await show(id)).state !== 'frozen';) {
      assert.ok(Date.now() < deadline, 'the rollout freezes')
      const { entregas } = await opened.hub.admin<AdminReplies['findDeliveries']>(
        'POST',
        '/v1/admin/entregas/list',
        { carga: nome },
      )
      const given = entregas.find(({ versao }) => versao === 2)
      const host = hosts.get(given?.hostname ?? '')
      if (given !== undefined && host !== undefined && !isTold) {
        const event = { tipo_evento: 'entrega_falhou', entrega_id: given.id }
        const target = withIdentity(opened.hub, host, { servername: 'localhost' })
        assertOk(await post(target, '/v1/events', { ...event, payload: { erro: REASON } }))
        isTold = true
      }
      await wait(200)
    }
  }

  test('there is none, and a freeze is set and ended', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/rollouts')
    await page.getByText('No freeze holds').waitFor()
    await page.getByText('Nothing here yet').waitFor()
    await page.getByRole('button', { name: 'Freeze rollouts…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Freeze rollouts' })
    const button = dialog.getByRole('button', { name: 'Freeze rollouts' })
    await dialog.getByLabel('Why').fill('<i>incident</i>')
    assert.equal(await button.isDisabled(), true, 'until when is not said')
    await dialog.getByLabel('Until', { exact: false }).fill('2020-01-01T08:00')
    await dialog.getByText('freeze_invalid').waitFor()
    const until = new Date(Date.now() + 3_600_000)
    // As the browser of this test shows times: São Paulo is three hours behind UTC.
    const local = new Date(until.getTime() - 3 * 3_600_000).toISOString().slice(0, 16)
    await dialog.getByLabel('Until', { exact: false }).fill(local)
    await dialog.getByText('1 × freeze_set').waitFor()
    await checkAccessibility(page)
    await button.click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('<i>incident</i>', { exact: false }).waitFor()
    const { freeze: set } = await opened.hub.admin<AdminReplies['showFreeze']>(
      'GET',
      '/v1/admin/freeze',
    )
    assert.equal(set?.until.slice(0, 16), until.toISOString().slice(0, 16))
    await page.getByRole('button', { name: 'Change…' }).click()
    const change = page.getByRole('dialog', { name: 'Change the freeze' })
    assert.match(await change.getByLabel('Until').inputValue(), /^\d{4}-\d\d-\d\dT\d\d:\d\d/)
    const why = change.getByLabel('Why')
    assert.notEqual(await why.inputValue(), '')
    await why.fill('it takes longer')
    await change.getByText('1 × freeze_set').waitFor()
    await change.getByRole('button', { name: 'Change the freeze' }).click()
    await change.waitFor({ state: 'detached' })
    const { freeze: changed } = await opened.hub.admin<AdminReplies['showFreeze']>(
      'GET',
      '/v1/admin/freeze',
    )
    assert.equal(changed?.why, 'it takes longer')
    assert.equal(changed.until, set?.until)
    await page.getByRole('button', { name: 'End the freeze…' }).click()
    const end = page.getByRole('dialog', { name: 'End the freeze' })
    await end.getByText('1 × freeze_ended').waitFor()
    await end.getByRole('button', { name: 'End it' }).click()
    await page.getByText('No freeze holds').waitFor()
    person.assertBlameless()
  })

  test('one is paused, goes on, and is undone, each after it was said what happens', async () => {
    const id = await start('acted')
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/rollouts')
    await page.getByRole('link', { name: 'acted v2' }).click()
    await page.getByText('Wave 1, up to 1').waitFor()
    const acts = [
      ['Pause…', 'Pause the rollout of acted', 'rollout_paused', 'Pause', 'Paused'],
      ['Go on…', 'Go on with the rollout of acted', 'rollout_resumed', 'Go on', 'Running'],
      ['Undo…', 'Undo the rollout of acted', 'rollout_undone', 'Undo', /undone/iu],
    ] as const
    for (const [button, title, entry, sure, state] of acts) {
      await page.getByRole('button', { name: button }).click()
      const dialog = page.getByRole('dialog', { name: title })
      await dialog.getByText(`1 × ${entry}`).waitFor()
      await dialog.getByRole('button', { name: sure, exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      await page.locator('.hosthead').getByText(state).waitFor()
    }
    assert.equal(await page.getByRole('button', { name: /…$/u }).count(), 0)
    assert.match((await show(id)).state, /^undo/u)
    person.assertBlameless()
  })

  test('a frozen one says why, and which host failed with what; a viewer has no action', async () => {
    const id = await start('frozen')
    await freeze('frozen', id)
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto(`/console/rollouts/${id}`)
    await page.getByRole('heading', { name: 'It is frozen' }).waitFor()
    const { reason, failures } = await show(id)
    await page.getByText(reason ?? 'no reason').waitFor()
    const line = page.getByRole('listitem').filter({ hasText: REASON })
    await line.getByText(failures[0]?.hostname ?? '', { exact: true }).waitFor()
    await page.getByRole('img', { name: 'Done 0, Under way 0, Failed 1' }).waitFor()
    await page.getByText('not open yet').waitFor()
    await settle(page)
    assert.equal(await page.getByRole('button', { name: /…$/u }).count(), 0)
    await page.goto('/console/rollouts')
    await page.getByText('Frozen').first().waitFor()
    await page.getByText('0 of 1 done').waitFor()
    await page.getByText('reached 1', { exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: /…$/u }).count(), 0)
    await page.goto(`/console/rollouts/${id}`)
    await page.getByRole('link', { name: 'See why' }).click()
    await page.getByRole('heading', { level: 1, name: failures[0]?.hostname ?? '' }).waitFor()
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds no fault, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.signIn('operator', theme)
      const { page } = person
      await page.goto('/console/rollouts')
      await page.locator('a.whole-row').first().waitFor()
      await settle(page)
      await checkAccessibility(page)
      await page.getByRole('link', { name: 'frozen' }).click()
      await page.getByRole('heading', { name: 'It is frozen' }).waitFor()
      await settle(page)
      await checkAccessibility(page)
      person.assertBlameless()
    })
  }
})
