// axe-core on a page as it is shown. Its source goes in by the debugger's door, which no content policy governs.

import assert from 'node:assert/strict'
import axe from 'axe-core'
import type { CDPSession, Page } from 'playwright-core'

const RUN = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, help, nodes }) => id + ': ' + help + ': ' +
    nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary).join(' | ')))`

/** Names each violation with the first elements that have it. */
export async function checkAccessibility(page: Page): Promise<void> {
  const debug = await page.context().newCDPSession(page)
  await checkThrough(debug, page)
  await debug.detach()
}

/** Through a door that stays: with any that is closed, Chromium takes virtual authenticators away. */
export async function checkThrough(debug: CDPSession, page: Page): Promise<void> {
  const { result: known } = await debug.send('Runtime.evaluate', { expression: `typeof axe` })
  if (known.value === 'undefined') {
    await debug.send('Runtime.evaluate', { expression: axe.source })
  }
  const { result, exceptionDetails } = await debug.send('Runtime.evaluate', {
    expression: RUN,
    awaitPromise: true,
    returnByValue: true,
  })
  assert.equal(exceptionDetails, undefined, 'axe runs')
  assert.deepEqual(result.value, [], `accessibility of ${page.url()}`)
}
