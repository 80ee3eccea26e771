// What the tests of the console go by sees what it shall see: a check that sees nothing finds no fault either.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WITH_BROWSER } from '../support/browser.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { openConsole, type OpenConsole, type SignedInPerson } from './support/open-console.ts'

describe('the harness', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
  })
  after(() => opened[Symbol.asyncDispose]())

  const plant = async (script: string): Promise<SignedInPerson> => {
    const person = await opened.signIn('viewer')
    await person.page.evaluate<undefined>(`{ ${script} }; undefined`)
    await person.page.waitForTimeout(300)
    return person
  }

  test('names what axe finds', async () => {
    await using person = await plant(`document.body.append(document.createElement('img'))`)
    await assert.rejects(checkAccessibility(person.page), /image-alt/)
  })

  test('gathers a report of the content policy, and the request that it stopped', async () => {
    await using person = await plant(
      `document.body.append(Object.assign(new Image(), { alt: '', src: 'https://elsewhere.example/x.png' }))`,
    )
    assert.throws(() => person.assertBlameless(), /img-src blocked/)
  })

  test('gathers what Trusted Types stop', async () => {
    await using person = await plant(`try { document.body.innerHTML = '<b>x</b>' } catch {}`)
    assert.throws(() => person.assertBlameless(), /require-trusted-types-for/)
  })

  test('gathers what nobody caught, and what is written as an error', async () => {
    await using person = await plant(
      `setTimeout(() => { throw new Error('planted') }); console.error('told')`,
    )
    assert.match(person.misdeeds.errors.join(' '), /planted/)
    assert.match(person.misdeeds.errors.join(' '), /told/)
  })
})
