/**
 * Draws the pictures of the demo shop: seeds/demo/pictures/{slug}.webp. Run it after a change here; the files are committed.
 * Usage: node .config/draw-demo-pictures.ts
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'

const folder = 'seeds/demo/pictures'
const [ink, cream, brass, steel, sea, red, wool, glow] = [
  '#26323d',
  '#f6efe0',
  '#c8963e',
  '#9aa7b0',
  '#2f6f8f',
  '#b5483a',
  '#e4d9c4',
  '#ffcf6b'
]

const rect = (x: number, y: number, width: number, height: number, fill: string, radius = 0): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}"/>`
const circle = (x: number, y: number, radius: number, fill: string): string =>
  `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}"/>`
const path = (d: string, fill: string): string => `<path d="${d}" fill="${fill}"/>`
const line = (d: string, colour: string, width = 14): string =>
  `<path d="${d}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"/>`
const repeat = (count: number, draw: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => draw(index)).join('')
const flame = (x: number, y: number, size = 1): string =>
  `<g transform="translate(${x} ${y}) scale(${size})">${path('M0-70C34-30 36 0 0 14C-36 0-34-30 0-70Z', glow)}${path('M0-34C14-14 15 0 0 8C-15 0-14-14 0-34Z', '#fff6dc')}</g>`

const lantern = (metal: string, glass: string): string =>
  line('M290 300C290 120 510 120 510 300', ink, 12) +
  path('M330 250L470 250L500 310L300 310Z', metal) +
  path('M310 310C270 400 270 470 310 560L490 560C530 470 530 400 490 310Z', glass) +
  flame(400, 480, 1.3) +
  line('M310 315C262 400 262 480 310 556M490 315C538 400 538 480 490 556', metal, 12) +
  path('M290 560L510 560L540 660L260 660Z', metal)
const tinLantern = (metal: string): string =>
  path('M400 190L520 300L280 300Z', metal) +
  rect(290, 300, 220, 330, metal, 12) +
  repeat(5, (row) => repeat(4, (column) => circle(326 + 49 * column + (row % 2) * 3, 350 + 58 * row, 11, glow))) +
  line('M370 190C370 140 430 140 430 190', ink, 12)
const candle = (x: number, top: number, width: number, colour: string): string =>
  rect(x - width / 2, top, width, 650 - top, colour, 10) +
  line(`M${x} ${top}L${x} ${top - 22}`, ink, 6) +
  flame(x, top - 26)
const mug = (colour: string): string =>
  line('M530 370C640 360 640 540 520 540', colour, 34) +
  path('M250 310L540 310L515 650L275 650Z', colour) +
  rect(240, 296, 310, 28, ink, 14)
const bowl = (y: number, width: number, colour: string): string =>
  path(
    `M${400 - width} ${y}L${400 + width} ${y}C${400 + width} ${y + 130} ${400 + width / 2} ${y + 150} 400 ${y + 150}C${400 - width / 2} ${y + 150} ${400 - width} ${y + 130} ${400 - width} ${y}Z`,
    colour
  ) + rect(400 - width - 8, y - 12, 2 * width + 16, 22, ink, 11)
const lighthouse = (x: number, base: number, size: number): string =>
  `<g transform="translate(${x} ${base}) scale(${size})">${path('M-60 0L-40-300L40-300L60 0Z', cream)}${repeat(3, (index) => path(`M${-58 + index * 6.5} ${-30 - index * 96}L${58 - index * 6.5} ${-30 - index * 96}L${54 - index * 6.5} ${-78 - index * 96}L${-54 + index * 6.5} ${-78 - index * 96}Z`, red))}${rect(-48, -316, 96, 18, ink)}${rect(-30, -366, 60, 52, glow)}${path('M-44-366L0-410L44-366Z', ink)}</g>`
const scene = (x: number, y: number, width: number, height: number, sky: string): string =>
  rect(x, y, width, height, sky) +
  rect(x, y + height * 0.68, width, height * 0.32, sea) +
  path(
    `M${x} ${y + height}L${x} ${y + height * 0.78}L${x + width * 0.6} ${y + height * 0.72}L${x + width * 0.75} ${y + height}Z`,
    ink
  ) +
  lighthouse(x + width * 0.36, y + height * 0.77, height / 620)
const sheet = (content: string, turn = -4): string =>
  `<g transform="rotate(${turn} 400 420)">${rect(230, 190, 340, 470, '#fffdf6', 6)}${content}</g>`
const textLines = (x: number, y: number, count: number, width: number): string =>
  repeat(count, (index) => rect(x, y + 34 * index, index === count - 1 ? width * 0.6 : width, 10, '#c9cfd3', 5))
const membership = (colour: string, emblem: string): string =>
  `<g transform="rotate(-5 400 420)">${rect(170, 270, 460, 300, colour, 26)}${rect(170, 330, 460, 14, '#ffffff44')}${emblem}${textLines(370, 420, 3, 210)}</g>`
const envelope = (colour: string, seal: string): string =>
  rect(190, 280, 420, 290, colour, 10) + line('M200 292L400 450L600 292', ink, 8) + circle(400, 452, 46, red) + seal
const tin = (colour: string): string =>
  rect(220, 360, 360, 260, colour, 24) +
  rect(208, 330, 384, 56, ink, 20) +
  line('M330 330C330 260 470 260 470 330', steel, 18)
const anchor = (colour: string): string =>
  line('M400 290L400 560M330 350L470 350M270 470C280 580 360 590 400 560C440 590 520 580 530 470', colour, 26) +
  circle(400, 262, 34, colour)
const heart = (colour: string): string =>
  path(
    'M400 610C180 470 220 290 330 290C370 290 395 320 400 350C405 320 430 290 470 290C580 290 620 470 400 610Z',
    colour
  )

type Drawing = { sky: string; svg: string }
const warm = '#f3dfc1'
const cool = '#cfe0e6'
const night = '#31475a'
const sage = '#d5ddcb'

/** Each product's background and drawing on 800 by 800 points. seeds/demo/catalog.json describes the pictures. */
const drawings: Record<string, Drawing> = {
  'storm-lantern': { sky: night, svg: lantern(steel, '#dfe8ea') },
  'tealight-lantern': { sky: night, svg: tinLantern(steel) },
  'beeswax-pillar': { sky: warm, svg: candle(400, 340, 190, '#e0ae3f') },
  'enamel-mug': { sky: sage, svg: mug(sea) },
  'stripe-blanket': {
    sky: cool,
    svg: repeat(
      3,
      (index) =>
        rect(200, 370 + 96 * index, 400, 88, wool, 40) +
        rect(200, 398 + 96 * index, 400, 14, sea) +
        rect(200, 422 + 96 * index, 400, 8, red)
    )
  },
  'watch-cap': {
    sky: cool,
    svg:
      path('M240 560C240 300 560 300 560 560Z', '#24465c') +
      repeat(9, (index) => line(`M${272 + 32 * index} 548L${300 + 25 * index} 400`, '#1b3648', 6)) +
      rect(222, 540, 356, 96, '#2f5a75', 30)
  },
  'lighthouse-postcards': {
    sky: warm,
    svg: repeat(
      3,
      (index) =>
        `<g transform="rotate(${-14 + 14 * index} 400 700)">${rect(250, 240, 300, 380, '#fffdf6', 8)}${scene(268, 258, 264, 344, ['#f5c9a0', '#bcd8e4', '#d8c4dd'][index] ?? cool)}</g>`
    )
  },
  'dinner-candles': {
    sky: warm,
    svg: repeat(6, (index) => candle(220 + 72 * index, 300 + 20 * (index % 2), 36, '#a9472f'))
  },
  'enamel-kettle': {
    sky: sage,
    svg:
      line('M310 330C310 190 490 190 490 330', ink, 22) +
      path('M540 440L650 350L676 378L560 540Z', red) +
      path('M260 360C240 480 230 560 250 650L550 650C570 560 560 480 540 360Z', red) +
      rect(252, 340, 296, 30, ink, 15) +
      circle(400, 322, 22, ink)
  },
  'lamp-oil': {
    sky: sage,
    svg:
      rect(355, 200, 90, 60, ink, 10) +
      path(
        'M360 260L440 260L440 320C520 350 520 380 520 420L520 660L280 660L280 420C280 380 280 350 360 320Z',
        '#dcebe6'
      ) +
      path('M290 440L510 440L510 650L290 650Z', '#f5dd92') +
      rect(310, 480, 180, 120, '#fffdf6', 8) +
      flame(400, 566, 0.9)
  },
  'hurricane-lamp': { sky: night, svg: lantern(brass, '#a9d3c0') },
  'boot-socks': {
    sky: cool,
    svg: repeat(
      2,
      (index) =>
        `<g transform="translate(${150 * index} ${30 * index})">${path('M230 220L340 220L340 470L440 560C470 600 440 640 390 640L300 600C240 560 230 520 230 470Z', '#8d9298')}${rect(230, 220, 110, 60, red)}${path('M390 640C440 640 470 600 440 560L400 524L350 622Z', red)}</g>`
    )
  },
  'paper-lantern-pattern': {
    sky: sage,
    svg: sheet(
      line('M320 270L480 270L520 420L480 570L320 570L280 420Z', sea, 6) +
        line('M400 270L400 570M280 420L520 420', sea, 4) +
        textLines(270, 600, 1, 260)
    )
  },
  'keepers-circle-year': { sky: warm, svg: membership('#24465c', lighthouse(270, 550, 0.5)) },
  'candle-post': {
    sky: warm,
    svg:
      repeat(3, (index) =>
        candle(310 + 90 * index, 300 + 24 * (index % 2), 50, ['#e0ae3f', '#f2e3bd', red][index] ?? cream)
      ) +
      rect(220, 470, 360, 190, '#b98b5b', 8) +
      rect(380, 470, 40, 190, '#9c7246')
  },
  'tin-lantern-course': {
    sky: sage,
    svg:
      `<g transform="translate(-90 20)">${tinLantern(steel)}</g>` +
      line('M560 640L610 360', '#8a5a34', 26) +
      rect(545, 310, 150, 64, ink, 12)
  },
  'lighthouse-fund': { sky: cool, svg: scene(0, 0, 800, 800, cool) },
  'anchor-lamp': { sky: night, svg: lantern(brass, '#f3ecd2') },
  'last-lantern': { sky: '#4b2f33', svg: lantern(red, '#f3e1cf') },
  'chart-print': {
    sky: warm,
    svg:
      rect(180, 180, 440, 500, '#8a6a46', 6) +
      rect(214, 214, 372, 432, '#eaf0e6') +
      path('M214 214L430 214C400 300 520 340 460 440C420 520 330 480 300 560L214 600Z', '#cfc08f') +
      repeat(4, (index) =>
        line(
          `M${470 - 18 * index} ${300 + 80 * index}C${520 - 10 * index} ${320 + 80 * index} ${540 - 8 * index} ${340 + 70 * index} 570 ${330 + 76 * index}`,
          sea,
          4
        )
      ) +
      circle(520, 590, 26, red)
  },
  'enamel-bowls': { sky: sage, svg: bowl(500, 200, sea) + bowl(400, 170, cream) + bowl(310, 140, red) },
  'advent-candles': {
    sky: '#33473d',
    svg:
      repeat(4, (index) => rect(262 + 76 * index, 380, 46, 120, red, 8)) +
      flame(285, 362) +
      rect(220, 470, 360, 170, brass, 20)
  },
  'wick-trimmer': {
    sky: warm,
    svg:
      line('M300 610L470 330M470 610L330 330', brass, 30) +
      circle(290, 640, 52, brass) +
      circle(480, 640, 52, brass) +
      circle(290, 640, 26, warm) +
      circle(480, 640, 26, warm) +
      path('M440 330L540 230L580 260L490 360Z', brass)
  },
  'picnic-tin': { sky: sage, svg: tin(sea) },
  'harbour-gansey': {
    sky: cool,
    svg:
      path('M300 240L500 240L640 340L590 470L530 430L530 670L270 670L270 430L210 470L160 340Z', '#24465c') +
      path('M340 240C350 300 450 300 460 240Z', cool) +
      repeat(6, (index) =>
        line(`M${300 + 40 * index} 380L${320 + 40 * index} 420L${300 + 40 * index} 460`, '#38637f', 6)
      )
  },
  'fog-lamp': { sky: night, svg: lantern('#5f6d76', '#f0b95a') },
  'keel-lantern': { sky: night, svg: lantern('#6e4b2c', '#dfe8ea') },
  'lighthouse-print-file': {
    sky: warm,
    svg: rect(200, 160, 400, 520, '#fffdf6', 4) + scene(232, 192, 336, 456, '#e3a48c')
  },
  'lantern-care-sheet': {
    sky: sage,
    svg: sheet(
      `<g transform="translate(240 190) scale(.4)">${lantern(steel, '#dfe8ea')}</g>` + textLines(270, 480, 4, 260)
    )
  },
  'keepers-circle-month': { sky: warm, svg: membership(sea, lighthouse(270, 550, 0.5)) },
  'head-keeper-year': { sky: warm, svg: membership(brass, lighthouse(270, 550, 0.5)) },
  'harbour-friend-life': {
    sky: cool,
    svg: membership('#3b5d4a', `<g transform="translate(60 180) scale(.55)">${anchor(cream)}</g>`)
  },
  'open-bench-month': {
    sky: sage,
    svg: membership('#8a5a34', line('M270 530L290 400', cream, 18) + rect(240, 376, 110, 46, cream, 10))
  },
  'makers-guild-year': {
    sky: sage,
    svg: membership(ink, line('M270 530L290 400', brass, 18) + rect(240, 376, 110, 46, brass, 10))
  },
  'tide-letter': {
    sky: cool,
    svg: envelope('#fffdf6', line('M376 452C386 436 396 468 406 452C416 436 420 460 426 452', cream, 6))
  },
  'pattern-library': {
    sky: warm,
    svg:
      sheet('', 6) +
      sheet('', -8) +
      sheet(line('M330 260L470 260L510 400L400 560L290 400Z', red, 6) + textLines(270, 600, 1, 260), -1)
  },
  'candle-dipping-day': {
    sky: warm,
    svg:
      line('M220 240L580 240', '#8a5a34', 18) +
      repeat(
        4,
        (index) =>
          line(`M${280 + 80 * index} 240L${280 + 80 * index} 330`, ink, 5) +
          rect(262 + 80 * index, 330, 36, 190, '#d9a33a', 16)
      ) +
      path('M220 500L580 500L550 670L250 670Z', steel) +
      rect(208, 486, 384, 30, ink, 15)
  },
  'lifeboat-supper': {
    sky: cool,
    svg: `<g transform="translate(160 90) scale(.6)">${heart(red)}</g>` + bowl(520, 190, sea)
  }
}

mkdirSync(folder, { recursive: true })
for (const [slug, { sky, svg }] of Object.entries(drawings)) {
  const table = rect(0, 650, 800, 150, '#00000018') + `<ellipse cx="400" cy="664" rx="230" ry="18" fill="#00000022"/>`
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="800" viewBox="0 0 800 800">${rect(0, 0, 800, 800, sky)}${table}${svg}</svg>`
  writeFileSync(
    join(folder, `${slug}.webp`),
    await sharp(Buffer.from(picture)).webp({ quality: 70, effort: 6 }).toBuffer()
  )
}
