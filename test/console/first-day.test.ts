// The first day: a hub with no host, no token and no cargo. Each screen says what comes there and the command that brings it.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WITH_BROWSER } from '../support/browser.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle, THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

/** Each list that is empty then, with how its first row comes. */
const EMPTY: readonly (readonly [path: string, commands: readonly string[]])[] = [
  ['/hosts', ['svc token create --hostname web-1.example.org --role web']],
  ['/cargo', ['svc load create']],
  ['/deliveries', ['svc load create']],
  ['/rollouts', ['svc load update site --waves']],
  ['/certificates', ['svc token create --hostname web-1.example.org --role web']],
  ['/policies', ['svc policy set web --cert-ttl 8h', 'svc policy set --where env=prod']],
  ['/enrolment', ['svc token create', 'svc join-rule create web-images']],
  ['/webhooks', ['svc webhook create --url https://alerts.example.org/cartorio']],
]

describe('the first day', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
  })
  after(() => opened[Symbol.asyncDispose]())

  test('the overview leads to the first enrolment, and draws no empty pictures', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    const main = page.locator('main')
    // First of all: it goes when the first figures come.
    await main.getByText('The first figures come a minute after the start of the hub.').waitFor()
    await settle(page)
    await main.getByRole('heading', { name: 'No host has enrolled yet.' }).waitFor()
    await main.getByText('As long as you like: no certificate in use could end.').waitFor()
    await main.getByText('Once a host has a certificate, this shows when each one ends').waitFor()
    assert.equal(await main.locator('svg.chart').count(), 0)
    assert.equal(await main.getByText('0 of 0').count(), 0)
    await main.getByRole('link', { name: 'or by a form here' }).first().click()
    await page.waitForURL('**/console/enrolment')
    await page.getByRole('button', { name: 'New token' }).waitFor()
    person.assertBlameless()
  })

  test('who may make nothing is led to no form', async () => {
    await using person = await opened.signIn('viewer')
    await settle(person.page)
    await person.page.getByText('No host has enrolled yet.').waitFor()
    assert.equal(await person.page.getByRole('link', { name: 'or by a form here' }).count(), 0)
  })

  test('each empty list has the command that brings its first row', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    const lacking: string[] = []
    for (const [path, commands] of EMPTY) {
      await page.goto(`/console${path}`)
      await settle(page)
      const text = await page.locator('main').innerText()
      for (const command of commands)
        if (!text.includes(command)) lacking.push(`${path} ${command}`)
    }
    assert.deepEqual(lacking, [])
    await page.goto('/console/roots')
    await page.getByText('No host has enrolled yet: the first one takes this set').waitFor()
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds no fault, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.signIn('admin', theme)
      for (const path of ['/', ...EMPTY.map(([one]) => one)]) {
        await person.page.goto(`/console${path}`)
        await settle(person.page)
        await checkAccessibility(person.page)
      }
      person.assertBlameless()
    })
  }
})
