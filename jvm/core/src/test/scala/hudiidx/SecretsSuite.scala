package hudiidx

import org.scalatest.funsuite.AnyFunSuite

class SecretsSuite extends AnyFunSuite {

  test("passwords in paths are masked in texts and errors, and paths with one refused") {
    val told = Map(
      "s3a://key:hidden@bucket/t" -> "s3a://key:***@bucket/t",
      "at 's3a://key:se/cr@et@bucket/t': gone" -> "at 's3a://key:***@bucket/t': gone",
      "s3a://:hidden@bucket" -> "s3a://:***@bucket",
      "ftp://u:1234@host:21/a s3a://k:5678@b/c" -> "ftp://u:***@host:21/a s3a://k:***@b/c",
      "\tx://a://b:c@d://e:f@g\n" -> "\tx://a:***@g\n",
      "hdfs://n:80/s3a://k:5@b" -> "hdfs://n:80/s3a://k:***@b",
      "a://u:12x@h" -> "a://u:***@h",
      "a://u@b://c:d@e" -> "a://u@b://c:***@e"
    )
    told.foreach { case (text, masked) =>
      assert(Secrets.masked(text) === masked)
      assert(new DamagedIndex(text).getMessage === Texts.shown(masked))
    }
    val refused = intercept[InvalidOption](Secrets.refuse("s3a://key:hidden@bucket/t")).getMessage
    assert(refused.startsWith("s3a://key:***@bucket/t: ") && !refused.contains("hidden"))
  }

  test("paths without a password stay as they are") {
    val plain = Seq(
      "s3a://bucket/t",
      "hdfs://name:8020/a@b/c",
      "hdfs://name:8020",
      "abfs://container@account.dfs.core.windows.net/t",
      "/a:b@c/t",
      "file:/a:b@c",
      "file:///a:b@c",
      "s3a://bucket/ts=10:00@noon",
      "no path: a@b",
      "://k:p@b",
      "s3a://k:p/b c@d"
    )
    plain.foreach { path =>
      assert(Secrets.masked(path) === path)
      Secrets.refuse(path)
    }
  }
}
