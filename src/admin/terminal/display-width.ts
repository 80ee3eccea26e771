const ASCII = /^[\x20-\x7e]*$/
/** What a terminal gives two cells to: emoji, and the ranges that Unicode's East_Asian_Width calls wide or fullwidth. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}])/u
const INVISIBLE = /^[\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Default_Ignorable_Code_Point}]/u
const CHARACTERS = new Intl.Segmenter()

/** How many cells of a terminal a printable text takes. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of CHARACTERS.segment(text)) {
    if (WIDE.test(segment)) width += 2
    else if (!INVISIBLE.test(segment)) width += 1
  }
  return width
}
