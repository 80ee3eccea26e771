// What Slack's documentation demands of a message to an incoming webhook, and what Slack makes of it.

import assert from 'node:assert/strict'

interface TextObject {
  readonly type: string
  readonly text: string
  readonly emoji?: boolean
  readonly verbatim?: boolean
}

interface Block {
  readonly type: string
  readonly text?: TextObject
  readonly elements?: readonly TextObject[]
}

export interface ReadSlack {
  readonly fallback: string
  /** As people see them. */
  readonly texts: readonly string[]
  readonly urls: readonly string[]
}

/** Throws when Slack would refuse it, or would take something of it for a command. */
export function readSlackMessage(body: string): ReadSlack {
  const message = JSON.parse(body) as { text: string; mrkdwn: boolean; blocks: Block[] }
  const known = new Set(['text', 'mrkdwn', 'unfurl_links', 'unfurl_media', 'blocks'])
  assert.deepEqual(
    Object.keys(message).filter((key) => !known.has(key)),
    [],
  )
  assert.ok(message.text.length > 0 && message.text.length <= 40_000)
  assert.equal(message.mrkdwn, false)
  assert.ok(message.blocks.length > 0 && message.blocks.length <= 50)
  const texts: string[] = []
  const urls: string[] = []
  const readText = (object: TextObject, charactersMax: number): void => {
    assert.ok(
      object.text.length > 0 && object.text.length <= charactersMax,
      object.text.slice(0, 80),
    )
    assert.doesNotMatch(object.text, /\p{Cs}/u)
    if (object.type === 'plain_text') {
      assert.equal(object.emoji, false)
      texts.push(unescape(object.text))
      return
    }
    assert.deepEqual([object.type, object.verbatim], ['mrkdwn', true])
    // Only links, with words that mean nothing.
    for (const link of object.text.split('  ')) {
      const { url, label } = /^<(?<url>https:\/\/[^|<>]+)\|(?<label>[A-Za-z0-9. -]+)>$/.exec(link)
        ?.groups ?? { url: undefined, label: undefined }
      assert.ok(url !== undefined && label !== undefined, link)
      urls.push(unescape(url))
    }
  }
  for (const block of message.blocks) {
    if (block.type === 'section') readText(block.text ?? assert.fail(), 3000)
    else {
      assert.equal(block.type, 'context')
      assert.ok((block.elements ?? []).length === 1)
      for (const element of block.elements ?? []) readText(element, 3000)
    }
  }
  return { fallback: unescape(message.text), texts, urls }
}

/** Each `&` has to begin one of Slack's three entities, and no `<` or `>` may stand alone. */
function unescape(text: string): string {
  assert.doesNotMatch(text, /[<>]|&(?!(amp|lt|gt);)/)
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
