CREATE TABLE `media` (
	`hash` text PRIMARY KEY NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "media_size" CHECK("media"."width" > 0 AND "media"."height" > 0)
) STRICT;
--> statement-breakpoint
CREATE TABLE `product_images` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`product_id` integer NOT NULL,
	`variation_id` integer,
	`src` text NOT NULL,
	`folder` text,
	`alt` text NOT NULL,
	`position` integer NOT NULL,
	`media_hash` text,
	`problem` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`variation_id`) REFERENCES `variations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`media_hash`) REFERENCES `media`(`hash`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `product_images_by_product` ON `product_images` (`product_id`,`variation_id`,`position`);--> statement-breakpoint
CREATE INDEX `product_images_by_media` ON `product_images` (`media_hash`);--> statement-breakpoint
CREATE INDEX `product_images_missing` ON `product_images` (`id`) WHERE "product_images"."media_hash" IS NULL;
--> statement-breakpoint
CREATE TRIGGER `product_images_inserted` AFTER INSERT ON `product_images` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_images_updated` AFTER UPDATE OF alt, position, media_hash ON `product_images` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_images_deleted` AFTER DELETE ON `product_images` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
