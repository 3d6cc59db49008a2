// A picture (a data URL) with about so many pixels: a WebP in base64.
async ([picture, pixels]) => {
  const image = await createImageBitmap(await (await fetch(picture)).blob());
  const scale = Math.sqrt(pixels / (image.width * image.height));
  const width = Math.round(image.width * scale), height = Math.round(image.height * scale);
  const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, width, height);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 0.6 })).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}
