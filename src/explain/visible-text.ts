// Text of others, as a person may be shown it in any place: one line, bounded, and nothing in it that is not seen.

/**
 * What draws nothing of its own, or turns around what stands beside it: controls, marks of direction, joiners, tags, variation
 * selectors, characters without a meaning. A letter with its accents stays.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u{115f}\u{1160}\u{3164}\u{ffa0}]+/gu
/** More than a language has on one letter runs into the lines above and below. */
const PILED_MARKS = /(\p{M}{4})\p{M}+/gu

/** They change how the letter before them looks, or join letters, and may come in any number. */
const SELECTORS = /\u{34f}|\p{Variation_Selector}/gu

export function visibleText(text: string, charactersMax: number): string {
  // What is far beyond the bound is not looked at: a text may be as long as a payload.
  const head = text.slice(0, charactersMax * 8)
  const line = head
    .replaceAll(SELECTORS, '')
    .replaceAll(UNSEEN, ' ')
    .replaceAll(PILED_MARKS, '$1')
    .replaceAll(/\s+/gu, ' ')
  const characters = Array.from(line.trim())
  const isWhole = characters.length <= charactersMax && head.length === text.length
  return isWhole ? characters.join('') : `${characters.slice(0, charactersMax - 1).join('')}…`
}
