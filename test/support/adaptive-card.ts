// Adaptive Cards as Microsoft's own library reads them. It was made for a browser, but to parse takes no document.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import type * as AdaptiveCards from 'adaptivecards'

Object.assign(globalThis, { window: globalThis, self: globalThis })
const library = createRequire(import.meta.url)(
  'adaptivecards/dist/adaptivecards.js',
) as typeof AdaptiveCards

export interface ReadCard {
  /** Of the text runs, block by block. */
  readonly texts: readonly string[]
  readonly urls: readonly string[]
}

/** Of a message as a workflow of Teams takes it. Throws when anything of it is not as the library wants it. */
export function readTeamsMessage(body: string): ReadCard {
  assert.ok(Buffer.byteLength(body) <= 28 * 1024, 'Teams takes 28 KB')
  const message = JSON.parse(body) as {
    readonly type: string
    readonly attachments: readonly { readonly contentType: string; readonly content: object }[]
  }
  assert.equal(message.type, 'message')
  const [attachment, ...others] = message.attachments
  assert.ok(attachment !== undefined && others.length === 0)
  assert.equal(attachment.contentType, 'application/vnd.microsoft.card.adaptive')
  const context = new library.SerializationContext(library.Versions.v1_4)
  const card = new library.AdaptiveCard()
  card.parse(attachment.content, context)
  const complaints = Array.from({ length: context.eventCount }, (_, at) => context.getEventAt(at))
  const faults = [...complaints, ...card.validateProperties().validationEvents]
  assert.deepEqual(
    faults.map(({ message: fault }) => fault),
    [],
  )
  const texts: string[] = []
  const urls: string[] = []
  for (let at = 0; at < card.getItemCount(); at += 1) {
    const block = card.getItemAt(at)
    // A TextBlock would read Markdown.
    assert.ok(block instanceof library.RichTextBlock, block.getJsonTypeName())
    for (let inline = 0; inline < block.getInlineCount(); inline += 1) {
      const run = block.getInlineAt(inline)
      assert.ok(run instanceof library.TextRun)
      texts.push(run.text ?? '')
      if (run.selectAction instanceof library.OpenUrlAction) urls.push(run.selectAction.url ?? '')
    }
  }
  for (let at = 0; at < card.getActionCount(); at += 1) {
    const action = card.getActionAt(at)
    assert.ok(action instanceof library.OpenUrlAction)
    urls.push(action.url ?? '')
  }
  return { texts, urls }
}
