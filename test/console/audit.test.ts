// The audit log in Chromium, with a real hub: what it lists, what an entry says, and what prints.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../support/agent-host.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts'
import { assertOk, post } from '../support/wire-client.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle, THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

const RECORDS = '**/v1/admin/eventos/records*'
const HOSTILE = `<img src=x onerror="alert(1)">`

describe('[ADT-1] [ADT-6] [ADT-7] the audit log', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole({ SVC_SERVER_SANS: 'hub.test' })
    const { hub } = opened
    const host = await enrollHost(hub, 'web-1.example.org')
    const payload = {
      erro: HOSTILE,
      more: HOSTILE_TEXTS.slice(0, 40).map((text) => text.slice(0, 40)),
    }
    assertOk(
      await post(host.mtls, '/v1/events', {
        tipo_evento: 'hook_falhou',
        payload,
        request_id: 'hostile-1',
      }),
    )
    for (const name of ['*.example.net', 'www.example.org']) {
      const sans = [...new Set(['www.example.org', name])].flatMap((san) => ['--san', san])
      const set = await hub.svc('politica', 'set', 'web', ...sans)
      assert.equal(set.status, 0, set.stderr)
    }
    for (let number = 0; number < 30; number += 1) {
      await hub.createToken({ hostname: `late-${number}.example.org` })
    }
  })
  after(() => opened[Symbol.asyncDispose]())

  const rowsOf = (page: Page): Promise<string[]> =>
    page.locator('table.data tbody tr:not(.room)').allInnerTexts()

  test('says first that the log is whole, and keeps an anchor that the next visit compares', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/audit')
    await page.getByRole('heading', { name: /^No break in \d+ entries$/ }).waitFor()
    await page.getByText('Anchor kept.').waitFor()
    await page.getByText('Signed.').waitFor({ timeout: 15_000 })
    await page.reload()
    await page.getByText('Same log as last time.').waitFor()
    await page
      .getByText(/No entry is newer than the anchor|w(?:as|ere) computed just now/)
      .waitFor()
    person.assertBlameless()
  })

  test('[ADT-2] [ADT-3] the check is stopped, goes on, fails and is tried again; a click moves the anchor', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    const verdict = (text: RegExp) => page.locator('#log-verdict', { hasText: text }).waitFor()
    let open = (): void => undefined
    const isOpen = new Promise<void>((resolve) => {
      open = resolve
    })
    await page.route(RECORDS, async (route) => {
      await isOpen
      await route.continue()
    })
    await page.goto('/console/audit')
    await verdict(/^Checking, \d+ to go$/)
    await page.getByRole('button', { name: 'Stop' }).click()
    open()
    await verdict(/^Stopped, \d+ entries are not checked here$/)
    await checkAccessibility(page)
    await page.unroute(RECORDS)
    await page.getByRole('button', { name: 'Go on' }).click()
    await verdict(/^No break in \d+ entries$/)
    const anchorSeq = () =>
      page.evaluate<number>(`JSON.parse(localStorage.getItem('cartorio.anchor')).place.seq`)
    const first = await anchorSeq()
    await opened.hub.createToken({ hostname: 'anchored.example.org' })
    await verdict(new RegExp(`^No break in ${first + 1} entries$`))
    assert.equal(await anchorSeq(), first, 'an anchor moves by a click alone')
    await page.getByRole('button', { name: 'Keep as anchor' }).click()
    assert.equal(await anchorSeq(), first + 1)
    person.assertBlameless()
    await page.route(RECORDS, (route) => route.abort())
    await page.getByRole('button', { name: 'Check all again' }).click()
    await verdict(/^The check could not go on$/)
    await page.getByText('The hub does not answer').first().waitFor()
    await page.unroute(RECORDS)
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await verdict(/^No break in/)
  })

  test('is filtered by what the URL says: whose, about whom, of which type, when', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    const listed = async (query: string): Promise<string> => {
      await page.goto(`/console/audit?${query}`)
      await page.locator('table.data tbody tr, .notice b').first().waitFor()
      await settle(page)
      return (await rowsOf(page)).join('\n')
    }
    assert.match(await listed('who=hosts'), /web-1\.example\.org/)
    assert.doesNotMatch(await listed('who=hosts'), /token_created/)
    assert.match(await listed('who=people'), /token_created/)
    assert.doesNotMatch(await listed('who=people'), /hook_falhou|agent_enrolled/)
    assert.match(await listed('who=hub'), /server_certificate_issued/)
    assert.match(await listed('about=late-3.example.org'), /^[^\n]*token_created[^]*late-3/m)
    assert.equal((await listed('type=politica_set')).match(/politica_set/g)?.length, 2)
    assert.equal(await listed('from=2100-01-01T00:00:00.000Z'), '')
    assert.match(await listed('until=2100-01-01T00:00:00.000Z'), /politica_set|token_created/)
    const issued = 'type=certificate_issued'
    assert.match(await listed(`${issued}&routine=true`), /certificate_issued/)
    assert.equal(await listed(issued), '')
    await page.goto('/console/audit')
    await settle(page)
    await page.getByRole('button', { name: 'People' }).click()
    assert.equal(new URL(page.url()).search, '?who=people')
    await page.goto('/console/audit?from=soon')
    await page.getByText('time_invalid').waitFor()
    person.assertBlameless()
  })

  test('by form: who, types and times go into the URL, and each goes by itself', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/audit')
    await page.locator('[data-filter-menu]').click()
    await page.getByLabel('By whom').fill('admin')
    await page.getByLabel('Types, as on the wire').fill('politica_set')
    await page.getByLabel('From').fill('2020-01-31T12:00:00')
    await page.getByRole('button', { name: 'Apply' }).click()
    // São Paulo is three hours behind.
    assert.equal(
      new URL(page.url()).search,
      '?who=admin&type=politica_set&from=2020-01-31T15%3A00%3A00.000Z',
    )
    await page.getByRole('button', { name: 'Remove the filter by admin' }).click()
    assert.doesNotMatch(page.url(), /who=/)
    person.assertBlameless()
  })

  test('by keys: J goes down, Enter opens, and the list stays where it is', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/audit?type=politica_set')
    await page.locator('a.whole-row').first().waitFor()
    await settle(page)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: /^Entry \d+$/ })
    await panel.getByRole('heading', { name: 'Policy set' }).waitFor()
    await panel.getByText('computed here, equal').waitFor()
    assert.match(page.url(), /\/console\/audit\/\d+\?type=politica_set$/)
    // The second one took *.example.net away.
    const changed = panel.locator('.diff')
    await changed.waitFor()
    assert.match(
      await changed.innerText(),
      /sans_permitidos\s+−\s+\*\.example\.net\s+www\.example\.org/,
    )
    assert.equal(await page.locator('.chain .block').count(), 5)
    assert.equal(await page.locator('.chain .join.broken').count(), 0)
    await panel.getByRole('link', { name: 'Close the entry' }).click()
    await panel.waitFor({ state: 'detached' })
    person.assertBlameless()
  })

  test('new entries wait for a click', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/audit')
    await page.getByText('Live', { exact: true }).waitFor()
    await page.locator('a.whole-row').first().waitFor()
    await settle(page)
    const shown = await rowsOf(page)
    await opened.hub.createToken({ hostname: 'new-1.example.org' })
    const arrived = page.locator('[data-arrived]')
    await arrived.filter({ hasText: '1 new' }).waitFor()
    await opened.hub.createToken({ hostname: 'new-2.example.org' })
    await arrived.filter({ hasText: '2 new' }).waitFor()
    assert.deepEqual((await rowsOf(page)).slice(0, 5), shown.slice(0, 5))
    await arrived.click()
    await page.getByText('new-1.example.org').first().waitFor()
    await page.getByText('new-2.example.org').first().waitFor()
    assert.equal(await arrived.count(), 0)
    person.assertBlameless()
  })

  test('what hosts and people wrote is text, in list, panel and print', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/audit?who=hosts')
    await page.locator('a.whole-row').first().click()
    const panel = page.getByRole('complementary', { name: /^Entry \d+$/ })
    await panel.getByText(HOSTILE).first().waitFor()
    await panel.getByText('computed here, equal').waitFor()
    await page.goto('/console/evidence?who=hosts')
    await page.locator('.printed').getByText(HOSTILE).first().waitFor()
    assert.equal(await page.locator('img').count(), 0)
    person.assertBlameless()
  })

  test('an entry that there is not is said so', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    for (const seq of ['99999', 'x', '0']) {
      await page.goto(`/console/audit/${seq}`)
      await page.getByText(/^There is no entry/).waitFor()
    }
    person.assertBlameless()
  })

  test('says how to check without the hub, in commands that work', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/audit')
    await page.getByRole('button', { name: 'Check without trusting it' }).click()
    const dialog = page.getByRole('dialog')
    const commands = await dialog.locator('.command code').allInnerTexts()
    assert.ok(commands.length >= 5)
    await checkAccessibility(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    person.assertBlameless()
  })

  test('[ADT-8] evidence prints black on white what it rests on', async () => {
    await using person = await opened.signIn('viewer')
    const { page, tokenName } = person
    // The page shows the checkpoint that there was when it asked, and the hub signs within a second of an entry.
    const { checkpoint, key, head } = await eventually(
      'a checkpoint of the whole log',
      async () => {
        const newest = await opened.hub.admin<{
          checkpoint: string
          key: string
          head: { seq: number; hash_atual: string }
        }>('GET', '/v1/admin/checkpoint')
        return newest.checkpoint.split('\n')[1] === String(newest.head.seq) && newest
      },
    )
    await page.goto('/console/evidence?type=politica_set')
    await page.locator('.printed li').first().waitFor()
    await page.getByText(/^No break in/).waitFor()
    const text = await page.locator('.evidence').innerText()
    for (const shown of [
      tokenName,
      key,
      head.hash_atual,
      checkpoint.split('\n')[2] ?? '',
      'version',
    ]) {
      assert.ok(text.includes(shown), shown)
    }
    assert.equal(text.match(/\bhash [0-9a-f]{64} computed here, equal/g)?.length, 2)
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.locator('.side').isVisible(), false)
    assert.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), false)
    assert.deepEqual(
      await page.evaluate<string[]>(`(({ color, backgroundColor }) => [color, backgroundColor])(
        getComputedStyle(document.querySelector('.evidence')))`),
      ['rgb(0, 0, 0)', 'rgb(255, 255, 255)'],
    )
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds nothing, ${theme.theme} at ${theme.widthPx}, and nothing is wider than the screen`, async () => {
      await using person = await opened.signIn('viewer', theme)
      const { page } = person
      for (const [path, waited] of [
        ['/console/audit', 'No break in'],
        ['/console/audit/5?routine=true', 'computed here, equal'],
        ['/console/evidence?type=politica_set', 'computed here, equal'],
      ] as const) {
        await page.goto(path)
        await page.getByText(waited).first().waitFor()
        await settle(page)
        await checkAccessibility(page)
        const width = await page.evaluate<number>('document.documentElement.scrollWidth')
        assert.ok(width <= theme.widthPx, `${path} is ${width} wide`)
      }
      person.assertBlameless()
    })
  }
})
