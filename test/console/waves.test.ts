// Rotations and agent updates, begun in the console: how many hosts each wave reaches is shown before; with a real hub.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle, THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

describe('waves', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
    for (const name of ['web-1', 'web-2', 'web-3', 'web-4']) {
      const env = name === 'web-1' ? 'stage' : 'prod'
      await enrollHost(opened.hub, `${name}.example.org`, { labels: { env } })
    }
  })
  after(() => opened[Symbol.asyncDispose]())

  const show = (rollout: string): Promise<AdminReplies['showRollout']> =>
    opened.hub.admin('POST', '/v1/admin/rollouts/show', { rollout })

  test('[RLO-24] identities are renewed in waves, of which each is shown before', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/rollouts')
    await page.getByRole('button', { name: 'Renew identities…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Renew identities in waves' })
    await dialog.getByLabel('Sizes').fill('1, 50%, 100%')
    for (const wave of ['1: 1 host', '50%: 2 hosts', '100%: 4 hosts']) {
      await dialog.getByText(wave, { exact: true }).waitFor()
    }
    await dialog.getByLabel('Sizes').fill('1, 50%')
    await dialog.getByText('waves_invalid').waitFor()
    const button = dialog.getByRole('button', { name: 'Start' })
    assert.equal(await button.isDisabled(), true)
    await dialog.getByLabel('Sizes').fill('1, 100%')
    await dialog.getByLabel('Which hosts').selectOption('where')
    assert.equal(await button.isDisabled(), true, 'no selector is typed')
    await dialog.getByRole('textbox', { name: /^Selector/ }).fill('env=prod')
    await dialog.getByText('100%: 3 hosts', { exact: true }).waitFor()
    await dialog.getByText('1 × rollout_started').waitFor()
    await dialog
      .getByText(`svc agent rotate --where 'env=prod' --waves 1,100% --soak 600s`, {
        exact: false,
      })
      .waitFor()
    await checkAccessibility(page)
    await button.click()
    await page.getByText('Wave 1, up to 1').waitFor()
    const { id, kind, where, waves, state } = await show('rotation')
    assert.deepEqual(
      [kind, where, waves, state],
      ['rotation', 'env=prod', ['1', '100%'], 'running'],
    )
    assert.equal(new URL(page.url()).pathname, `/console/rollouts/${id}`)

    await page.goto('/console/rollouts?start=rotation')
    await dialog.getByText('rollout_open').waitFor()
    assert.equal(await button.isDisabled(), true, 'one of them is open')
    person.assertBlameless()
  })

  test('[RLO-36] a newer agent is announced in waves', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/rollouts')
    await page.getByRole('button', { name: 'Update agents…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Update agents in waves' })
    const button = dialog.getByRole('button', { name: 'Start' })
    assert.equal(await button.isDisabled(), true, 'no version is typed')
    await dialog.getByLabel('Version of the agent').fill('newest')
    await dialog.getByText('programa_invalid').waitFor()
    await dialog.getByLabel('Version of the agent').fill('9.9.9')
    await dialog.getByText('100%: 4 hosts', { exact: true }).waitFor()
    await dialog.getByText('svc agent update 9.9.9 --all', { exact: false }).waitFor()
    await checkAccessibility(page)
    await button.click()
    await page.getByText('Wave 1, up to 1').waitFor()
    const { kind, programa, where } = await show('update')
    assert.deepEqual([kind, programa, where], ['update', '9.9.9', null])
    for (const [act, sure] of [
      ['Pause…', 'Pause'],
      ['Go on…', 'Go on'],
      ['Undo…', 'Undo'],
    ] as const) {
      await page.getByRole('button', { name: act }).click()
      await page.getByRole('dialog').getByRole('button', { name: sure, exact: true }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page
      .locator('.hosthead')
      .getByText(/undone/iu)
      .waitFor()
    person.assertBlameless()
  })

  test('a viewer starts nothing', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/rollouts?start=update')
    await settle(page)
    assert.equal(await page.getByRole('dialog').count(), 0)
    assert.equal(await page.getByRole('button', { name: /…$/u }).count(), 0)
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds no fault in the forms, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.signIn('operator', theme)
      const { page } = person
      for (const start of ['rotation', 'update']) {
        await page.goto(`/console/rollouts?start=${start}`)
        await page.getByRole('dialog').waitFor()
        await settle(page)
        await checkAccessibility(page)
      }
      person.assertBlameless()
    })
  }
})
